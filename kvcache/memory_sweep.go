package kvcache

import "time"

const (
	// sweepStep is how many records each write looks at. With two, garbage is
	// collected twice as fast as it can be made.
	sweepStep = 2

	// versionMemory is how long a key without content keeps its version after
	// it was last loaded: far longer than any call that a caller may hold the
	// version across.
	versionMemory = time.Hour
)

// sweep looks at the next few records and forgets those with nothing left in
// them. Called by every write, it takes constant time and keeps the number
// of records within a small multiple of those alive, without a goroutine.
//
// Versions survive it. A record that was ever loaded stays for versionMemory;
// what is dropped raises the floor, which is the version of all keys without a
// record. So a key's version never goes back, and it does not move under
// anybody who loaded it within versionMemory.
func (m *Memory) sweep(now time.Duration) {
	for step := 0; step < sweepStep && len(m.order) > 0; step++ {
		if m.hand >= len(m.order) {
			m.hand = 0
		}
		r := m.order[m.hand]
		m.expireAt(r, now)
		r.hits.Forget(int64(now))
		r.forgetBook(now)
		if r.loaded {
			r.loaded, r.keepUntil = false, deadlineAfter(now, versionMemory)
		}
		if r.present || r.hits.Len() > 0 || r.book != nil || r.keepUntil > now {
			m.hand++
			continue
		}
		m.forget(r)
	}
}

// forget removes r; the last record takes its place in the order.
func (m *Memory) forget(r *record) {
	m.floor = max(m.floor, r.version)
	delete(m.records, r.key)
	last := len(m.order) - 1
	m.order[r.place] = m.order[last]
	m.order[r.place].place = r.place
	m.order[last] = nil
	m.order = m.order[:last]
}
