package consumer

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How a worker hears of work. The stream says, to whoever listens at the moment,
// whose chunk it has stored: that is quick, and may get lost. A look at the
// stream now and then finds the rest: what came while nobody listened, and what
// is to be delivered again because its worker has died.

const (
	lookEvery = time.Second
	// A look of one worker is as good as that of another: from lookTogether workers
	// on, the fleet looks no more often the more there are, but each worker at least
	// every lookMost, or slowLookMost where a look takes long.
	lookTogether = 20
	lookMost     = 10 * time.Second
	slowLookMost = time.Minute
	// lookShare bounds the part of the time that is spent on looking, which
	// takes the longer the more tenants have something waiting.
	lookShare = 20
	// lookAgain is when the next look follows one that failed, however long that
	// took: a server that is back must not be waited for.
	lookAgain = 5 * time.Second
	// laneForgotten is after how long a lane without work is forgotten.
	laneForgotten = time.Minute
)

// listen hears of arrivals until ctx ends.
func (s *lanes) listen(ctx context.Context) (stop func(), err error) {
	sub, err := s.js.Conn().Subscribe(s.names.ArrivedFilter(), func(msg *nats.Msg) {
		if token, ok := s.names.ChunkToken(msg.Subject); ok && ctx.Err() == nil {
			s.arrived(token)
		}
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil // fails only on a closed connection
}

// keepLooking looks at the stream until ctx ends. progressed hears of every look
// that was answered.
func (s *lanes) keepLooking(ctx context.Context, progressed func()) {
	for {
		began := time.Now()
		err := s.look(ctx)
		wait := lookInterval(int(s.fleet.Load()), time.Since(began))
		s.alive.Store(err == nil)
		switch {
		case err == nil:
			progressed()
		case ctx.Err() == nil:
			s.failed(err)
			wait = min(wait, lookAgain)
		}
		if !sleep(ctx, time.Duration(float64(wait)*(0.8+0.4*s.rand()))) {
			return
		}
	}
}

// lookInterval is how long a worker of a fleet waits after a look that took so
// long.
func lookInterval(fleet int, took time.Duration) time.Duration {
	scaled := func(d, most time.Duration) time.Duration {
		return max(d, min(d*time.Duration(fleet)/lookTogether, most))
	}
	return max(scaled(lookEvery, lookMost), scaled(lookShare*took, slowLookMost))
}

// look gives every lane a turn that has messages which this worker does not
// have in hand.
func (s *lanes) look(ctx context.Context) error {
	if !s.js.Conn().IsConnected() {
		return &storeError{"look for chunks", errDisconnected}
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.names.ChunkStream())
	if err != nil {
		return &storeError{"look for chunks", err}
	}
	counts := map[string]uint64{}
	if int64(stream.CachedInfo().State.Msgs) > s.inHand.Load() {
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(s.names.ChunkFilter()))
		if err != nil {
			return &storeError{"look for chunks", err}
		}
		counts = info.State.Subjects
	}
	s.lifetime.Store(int64(laneLifetime(max(stream.CachedInfo().State.Consumers, len(counts)), stream.CachedInfo().Config.Replicas)))
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for subject, n := range counts {
		token, ok := s.names.ChunkToken(subject)
		if !ok {
			continue
		}
		if l := s.lane(token); int64(n) > int64(l.held) && !now.Before(l.quiet) {
			s.wake(l)
		}
	}
	for token, l := range s.all {
		if l.state == idle && l.held == 0 && now.Sub(l.used) > laneForgotten {
			delete(s.all, token)
		}
	}
	return nil
}
