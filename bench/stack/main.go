// Command stack compares what a guarded call costs in one process when all goes
// well, with failsafe-go's policies doing the same. Both sides run one after the
// other in each round, so that what disturbs one disturbs both, and it is the
// processor's time that is counted, garbage collection included, so that a busy
// machine changes little. Only ratios of the same run travel.
//
//	go run ./stack [-rounds 5]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// pair is one comparison. Both functions make one successful call.
type pair struct {
	name         string
	ours, theirs func() error
}

type cost struct {
	nanoseconds float64
	allocations float64
}

func main() {
	rounds := flag.Int("rounds", 5, "how often everything is measured; the median counts")
	flag.Parse()
	pairs, err := contestants()
	if err != nil {
		fail(err)
	}
	fmt.Printf("%-44s %12s %12s %8s\n", "one successful call in process", "weirkeeper", "failsafe-go", "ratio")
	for _, p := range pairs {
		var ratios []float64
		var ours, theirs []cost
		for range *rounds {
			a, err := measure(p.ours)
			if err != nil {
				fail(err)
			}
			b, err := measure(p.theirs)
			if err != nil {
				fail(err)
			}
			ours, theirs = append(ours, a), append(theirs, b)
			ratios = append(ratios, a.nanoseconds/b.nanoseconds)
		}
		slices.Sort(ratios)
		fmt.Printf("%-44s %12s %12s %8.2f\n", p.name, middle(ours), middle(theirs), ratios[len(ratios)/2])
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "stack:", err)
	os.Exit(1)
}

// slice is for how long, about, one measurement runs.
const slice = 300 * time.Millisecond

// measure makes calls for a slice of processor time.
func measure(call func() error) (cost, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, calls := processorTime(), 0
	for {
		for range 1000 {
			if err := call(); err != nil {
				return cost{}, err
			}
		}
		calls += 1000
		if spent := processorTime() - start; spent >= slice {
			runtime.ReadMemStats(&after)
			return cost{
				nanoseconds: float64(spent.Nanoseconds()) / float64(calls),
				allocations: float64(after.Mallocs-before.Mallocs) / float64(calls),
			}, nil
		}
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func middle(costs []cost) string {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.nanoseconds - b.nanoseconds) })
	m := costs[len(costs)/2]
	return fmt.Sprintf("%.0fns/%.0f", m.nanoseconds, m.allocations)
}
