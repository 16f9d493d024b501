package wire

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Durations counts how long things took, by a bucket for each: bucket i holds what took
// up to 2^(i/4) milliseconds and longer than bucket i-1 does, so that a quantile is off by
// a tenth. As JSON it is an object of buckets that hold anything: {"40":12,"41":3}. nil
// is empty.
type Durations map[int]uint64

// mostCounted is more than anybody has counted who counts.
const mostCounted = 1 << 48

// lastBucket holds all that took more than a month.
const lastBucket = 128

func bucketOf(d time.Duration) int {
	ms := float64(d) / float64(time.Millisecond)
	if ms <= 1 {
		return 0
	}
	return min(lastBucket, int(math.Ceil(4*math.Log2(ms))))
}

// Add counts one. d must not be nil.
func (d Durations) Add(took time.Duration) { d[bucketOf(took)]++ }

// Since returns what has been counted since earlier, which must be an earlier state of
// the same; false if it is not.
func (d Durations) Since(earlier Durations) (Durations, bool) {
	since := maps.Clone(d)
	for i, n := range earlier {
		if since[i] < n {
			return nil, false
		}
		if since[i] -= n; since[i] == 0 {
			delete(since, i)
		}
	}
	return since, true
}

// Merge counts what other has counted, too. d must not be nil.
func (d Durations) Merge(other Durations) {
	for i, n := range other {
		d[i] += n
	}
}

// Quantile is what a share of q, 0 to 1, took no longer than, to a tenth; false if
// nothing was counted.
func (d Durations) Quantile(q float64) (time.Duration, bool) {
	total := uint64(0)
	for _, n := range d {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank := max(1, math.Ceil(q*float64(total)))
	before := 0.0
	for _, i := range slices.Sorted(maps.Keys(d)) {
		n := float64(d[i])
		if before+n < rank {
			before += n
			continue
		}
		// Within the bucket they are taken to be spread evenly.
		place := float64(i) - 1 + (rank-before-0.5)/n
		return time.Duration(math.Exp2(place/4) * float64(time.Millisecond)), true
	}
	return 0, false // not reached: rank is at most total
}

// known drops what is no bucket.
func (d Durations) known() Durations {
	maps.DeleteFunc(d, func(i int, n uint64) bool { return i < 0 || i > lastBucket || n == 0 || n > mostCounted })
	return d
}
