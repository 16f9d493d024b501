// Package hits keeps the hit series of one key in memory.
package hits

import (
	"slices"
	"sort"
	"time"
)

// Series is the instants of one key in ascending order. The zero value is
// empty. Not safe for concurrent use.
type Series struct {
	hits []hit
}

// hit is one instant. The caller's clock made at, the cache's clock made until;
// the two are never compared.
type hit struct {
	at    time.Time
	until int64  // when the cache may forget it
	id    uint64 // for Drop
}

// Add records an instant. Instants come nearly in order, so that its place is
// nearly always the end.
func (s *Series) Add(at time.Time, until int64, id uint64) {
	i := len(s.hits)
	for i > 0 && s.hits[i-1].at.After(at) {
		i--
	}
	s.hits = slices.Insert(s.hits, i, hit{at: at, until: until, id: id})
}

// Forget drops the earliest hits for as long as their time is over.
func (s *Series) Forget(now int64) {
	n := 0
	for n < len(s.hits) && s.hits[n].until <= now {
		n++
	}
	if s.hits = s.hits[n:]; len(s.hits) == 0 {
		s.hits = nil
	}
}

// Drop removes all hits with an id below that one.
func (s *Series) Drop(below uint64) {
	s.hits = slices.DeleteFunc(s.hits, func(h hit) bool { return h.id < below })
}

// Len is how many hits there are at all.
func (s *Series) Len() int { return len(s.hits) }

// Since counts the hits at or after since and returns the earliest of them. It
// discards none of the earlier ones: a caller whose clock runs ahead must not
// shorten the window of the others.
func (s *Series) Since(since time.Time) (count int, oldest time.Time) {
	first := sort.Search(len(s.hits), func(i int) bool { return !s.hits[i].at.Before(since) })
	if first == len(s.hits) {
		return 0, time.Time{}
	}
	return len(s.hits) - first, s.hits[first].at
}
