package consumer

import (
	"context"
	"time"
)

// allowed is how many of n chunks of the lane may be pulled; they count as entering.
// Each of its steps says how many it lets through. One that lets none through has put
// the lane where it will be heard of again: with shut if no other lane would fare
// better now, else with hold.
func (s *lanes) allowed(ctx context.Context, l *lane, n int) int {
	if n = s.withoutAsking(l, n); n == 0 || l.nobodys {
		return n
	}
	server, tenant, err := s.ask(ctx, l)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		// The shared state does not answer, and would not for any tenant.
		s.log.Debug("cannot ask what is allowed", "error", err.Error())
		return s.shut(l, time.Now().Add(gateRetry))
	}
	if n = s.withinServer(l, n, server); n == 0 {
		return 0
	}
	if n = s.withinTenant(l, n, tenant); n == 0 {
		return 0
	}
	n = s.storable(l, n, time.Now()) // much may have happened since
	l.entering += n
	s.entering += n
	return n
}

// withoutAsking is what this worker itself knows of the lane.
func (s *lanes) withoutAsking(l *lane, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	n = s.storable(l, n, now)
	if wait := l.blocked.Sub(now); n > 0 && wait > 0 {
		return s.hold(l, wait+s.spread(l))
	}
	return n
}

// ask asks the gate about the server, and about the tenant unless the server takes no
// call of anybody.
func (s *lanes) ask(ctx context.Context, l *lane) (server, tenant Allowance, err error) {
	now := time.Now()
	server, err = s.server.ask(now, func() (Allowance, error) { return s.gate.Server(ctx) })
	if err == nil && server.Calls > 0 {
		tenant, err = l.trusted.ask(now, func() (Allowance, error) { return s.gate.Tenant(ctx, l.tenant) })
	}
	return server, tenant, err
}

// withinServer is what the server's circuit leaves for the lane beside those of all
// lanes that are entering. Called with the lock held.
func (s *lanes) withinServer(l *lane, n int, server Allowance) int {
	if server.Calls == Unlimited {
		return n
	}
	if n = min(n, server.Calls-s.entering); n > 0 {
		return n
	}
	wait := gatePoll
	if server.Calls <= 0 {
		wait = min(max(server.Wait, gatePoll), closedMost)
	}
	return s.shut(l, time.Now().Add(wait+time.Duration(s.rand()*float64(wait)/10)))
}

// withinTenant is what the tenant's limit leaves beside those of the lane that are
// entering, and no more than this worker's share. Called with the lock held.
func (s *lanes) withinTenant(l *lane, n int, tenant Allowance) int {
	l.refused = tenant.Calls <= 0
	switch {
	case tenant.Calls == Unlimited:
		return n
	case l.refused:
		return s.hold(l, max(tenant.Wait, gatePoll)+s.spread(l))
	}
	if n = min(n, l.greed.Share(tenant.Calls, int(s.fleet.Load()), s.rand()), tenant.Calls-l.entering); n > 0 {
		return n
	}
	return s.hold(l, gatePoll+s.spread(l))
}

// shut lets no lane have a turn before until, and this one wait for its next. It returns
// 0, for none. Called with the lock held.
func (s *lanes) shut(l *lane, until time.Time) int {
	s.closed = until
	s.enqueue(l)
	return 0
}

// hold lets this lane alone wait. It returns 0, for none. Called with the lock held.
func (s *lanes) hold(l *lane, d time.Duration) int {
	s.park(l, d, true)
	return 0
}

// spread is how much longer than necessary the lane waits, so that not all
// workers come at the same instant.
func (s *lanes) spread(l *lane) time.Duration {
	return l.greed.Spread(int(s.fleet.Load()), s.rand())
}

// leave is the opposite of being counted as entering.
func (s *lanes) leave(l *lane, n int) {
	if l.nobodys || n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.entering -= n
	s.entering -= n
}
