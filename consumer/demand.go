package consumer

import "time"

// demand is what a worker knows to be left to do.
type demand struct {
	ready   int // tenants with chunks that would be started if slots were free
	waiting int // tenants with chunks that would be refused now, or are due later
}

// demand counts tenants and not chunks: how deep a lane is makes no difference
// to how many workers it takes. Those whose turn has not come are taken for
// ready, unless the circuit is open or they were refused last time: asking the
// gate about each would cost more than the answer is worth.
func (s *lanes) demand(now time.Time) demand {
	s.mu.Lock()
	defer s.mu.Unlock()
	shut := now.Before(s.closed)
	var d demand
	for _, l := range s.all {
		switch l.state {
		case idle, pulling:
		case queued:
			if shut || l.refused || now.Before(l.blocked) {
				d.waiting++
			} else {
				d.ready++
			}
		case parked:
			d.waiting++
		}
	}
	return d
}
