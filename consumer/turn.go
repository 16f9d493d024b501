package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// missedRetry is, on average, after how long a lane is tried once more that had
// nothing although something was said to be there.
const missedRetry = 20 * time.Millisecond

var errDisconnected = errors.New("not connected")

// turn pulls once from the lane. The n slots are its own.
func (s *lanes) turn(ctx, work context.Context, l *lane, n int) {
	defer s.leaveTurn()
	k := s.allowed(ctx, l, n)
	s.slots.give(n - k)
	if k == 0 {
		return
	}
	got, more, err := s.pull(ctx, work, l, k)
	s.leave(l, k-got)
	s.slots.give(k - got)
	if err != nil && ctx.Err() == nil {
		s.failed(fmt.Errorf("pull %s: %w", s.names.Lane(l.token), err))
	}
	s.afterPull(l, got, more, err)
}

// afterPull puts the lane where its next turn will find it.
func (s *lanes) afterPull(l *lane, got int, more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case err != nil:
		l.misses++
		s.park(l, backoffFor(l.misses, s.rand()), true)
	case more || l.again:
		l.misses = 0
		s.another(l, now)
	case got == 0 && l.misses == 0:
		// The signal of an arrival can be here before the server lets it be
		// pulled. If every worker was too early, nobody would look for a second.
		l.misses++
		s.park(l, time.Duration((0.5+s.rand())*float64(missedRetry)), false)
	case got == 0:
		l.quiet = now.Add(quietFor(l.misses-1, l.ackWait))
		l.misses++
		s.rest(l, now)
	default:
		l.misses = 0
		s.rest(l, now)
	}
}

func backoffFor(misses int, u float64) time.Duration {
	return time.Duration(float64(min(pullBackoffFirst<<min(misses, 10), pullBackoffLast)) * (0.5 + u/2))
}

// quietFor is for how long the look at the stream leaves a lane alone whose
// messages were not to be had. Somebody else has them in hand; if he dies, the
// next who asks gets them.
func quietFor(misses int, ackWait time.Duration) time.Duration {
	return min(500*time.Millisecond<<min(misses, 8), max(ackWait/4, time.Second), 5*time.Second)
}

// pull takes up to n messages that are there and starts each. more says that
// others are left.
func (s *lanes) pull(ctx, work context.Context, l *lane, n int) (got int, more bool, err error) {
	if !s.js.Conn().IsConnected() {
		return 0, false, errDisconnected
	}
	for range 2 {
		if l.consumer == nil || time.Since(l.pulled) > l.lifetime {
			if err := s.open(ctx, l); err != nil {
				return 0, false, err
			}
		}
		got, more, err = s.fetch(ctx, work, l, n)
		if got > 0 || !gone(err) {
			break
		}
		l.consumer = nil
	}
	return got, more, err
}

// gone reports whether a pull found no consumer.
func gone(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, jetstream.ErrConsumerNotFound)
}

func (s *lanes) fetch(ctx, work context.Context, l *lane, n int) (got int, more bool, err error) {
	err = s.pulls.pull(l.consumer, n, 0, l.ackWait, func(msg *nats.Msg) {
		d, err := newDelivery(msg)
		if err != nil {
			_ = msg.Nak()
			return
		}
		if ctx.Err() != nil {
			_ = d.nak(0)
			s.offer(l.token)
			return
		}
		got++
		more = d.meta.NumPending > 0
		d.lane, d.turn = l, l.turns
		d.older = l.history && d.meta.Timestamp.Before(l.created)
		s.start(work, l, d)
	})
	if err == nil {
		l.pulled = time.Now()
	}
	return got, more, err
}

// laneLifetime is for lanes that are made while the stream has so many consumers, and
// copies of itself and of them on so many servers.
func laneLifetime(consumers, copies int) time.Duration {
	switch {
	case consumers <= manyLanes:
		return wire.LaneIdle
	case copies > 1:
		return wire.LaneIdleReplicated
	default:
		return wire.LaneIdleCrowded
	}
}

// open makes sure that the lane's consumer exists.
func (s *lanes) open(ctx context.Context, l *lane) error {
	c, err := wire.EnsureLane(ctx, s.js, s.names, l.token, s.ackWait, time.Duration(s.lifetime.Load()))
	if err != nil {
		return err
	}
	info := c.CachedInfo()
	history, err := s.attempts.everFailed(ctx, l.token)
	if err != nil {
		return err
	}
	if time.Since(l.pulled) < l.lifetime/2 { // it was not for the server to remove it
		s.log.Warn("was missing and has been created again", "object", "consumer "+info.Name)
	}
	l.consumer, l.ackWait, l.lifetime, l.created, l.history = info, ackWaitOf(info), info.Config.InactiveThreshold, info.Created, history
	return nil
}

// start works on one message, in the slot that was taken for it.
func (s *lanes) start(work context.Context, l *lane, d delivery) {
	var once sync.Once
	entered := func() { once.Do(func() { s.leave(l, 1) }) }
	ctx := context.WithValue(work, admittedKey{}, func() {
		entered()
		s.mu.Lock()
		defer s.mu.Unlock()
		l.greed.Admitted()
	})
	s.inHand.Add(1)
	s.mu.Lock()
	l.held++
	s.mu.Unlock()
	ackWait := l.ackWait
	s.working.start(func() {
		defer s.slots.give(1)
		defer s.inHand.Add(-1)
		defer entered()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			l.held--
		}()
		began := time.Now()
		s.handle(ctx, d, ackWait)
		s.worked(time.Since(began))
	})
}

// offer tells the workers that something can be had for a token.
func (s *lanes) offer(token string) {
	_ = s.js.Conn().Publish(s.names.Arrived(token), nil) // else they find it themselves
}
