package cachetest

import "time"

// now reads the clock that fits the cache: hand-moved or real.
func (r *rig) now() time.Time {
	if r.advance != nil {
		return time.Unix(0, 0).Add(r.passed)
	}
	return time.Now()
}

// tick lets a small part of d pass.
func (r *rig) tick(d time.Duration) {
	step := max(d/20, 1)
	if r.advance != nil {
		r.passed += step
		r.advance(step)
		return
	}
	time.Sleep(min(step, 20*time.Millisecond))
}

// written is a write with a ttl, and when it began and ended.
type written struct {
	r          *rig
	ttl        time.Duration
	begin, end time.Time
}

func (r *rig) write(ttl time.Duration, fn func()) written {
	r.Helper()
	begin := r.now()
	fn()
	return written{r: r, ttl: ttl, begin: begin, end: r.now()}
}

// expires reads until read reports false, which must happen neither before the
// ttl of the write nor noticeably after it.
func (w written) expires(read func() (present bool)) {
	w.r.Helper()
	grace := Grace
	if w.r.advance != nil {
		grace = 0
	}
	for {
		begin := w.r.now()
		present := read()
		end := w.r.now()
		switch {
		case present && !begin.Before(w.end.Add(w.ttl+grace)):
			w.r.Fatalf("still there %v after the write, with a ttl of %v", begin.Sub(w.end), w.ttl)
		case !present && end.Before(w.begin.Add(w.ttl)):
			w.r.Fatalf("gone %v after the write, with a ttl of %v", end.Sub(w.begin), w.ttl)
		case !present:
			w.settle(grace)
			return
		}
		w.r.tick(w.ttl)
	}
}

// settle waits until whoever reads the cache, from whichever process, must agree
// that the write has expired.
func (w written) settle(grace time.Duration) {
	for w.r.advance == nil && w.r.now().Before(w.end.Add(w.ttl+grace)) {
		w.r.tick(w.ttl)
	}
}
