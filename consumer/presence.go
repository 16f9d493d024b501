package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	// announceEvery is how often a worker says that it is alive.
	announceEvery = wire.WorkersLife / 4
	// fewWorkers is how many there are thought to be until they are counted, and
	// where they cannot be.
	fewWorkers = 4

	firstTimeout = time.Second
)

// presence makes the workers of a fleet count each other: each keeps a key of its
// own in a bucket that forgets what is not renewed, and the number of keys, but for those
// that others have put there, is the number of workers. What a worker takes of a shared allowance follows from that;
// being wrong costs a few deliveries more or a few milliseconds, so failures are
// told of and otherwise ignored.
type presence struct {
	js      jetstream.JetStream
	names   wire.Names
	key     string // set by the first announcement
	state   func() wire.WorkerState
	counted func(int64)
	agreed  *agreement
	clock   func() time.Time
	rand    func() float64
	log     *slog.Logger

	entries    int64        // of the bucket, as counted last, 0 if that is not known
	ahead      atomic.Int64 // by how much the server's clock is before this worker's, in nanoseconds
	complained bool
}

// begin announces this worker and counts, so that the number is right from the
// first turn on; but a worker does not wait for it for long.
func (p *presence) begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	p.announce(ctx)
}

// run announces this worker until ctx ends, and looks whether the others were
// started as it was.
func (p *presence) run(ctx context.Context) {
	for {
		if p.entries > 0 && p.js.Conn().IsConnected() {
			p.agreed.review(ctx, p.entries)
			p.tell()
		}
		if !sleep(ctx, time.Duration(float64(announceEvery)*(0.8+0.4*p.rand()))) {
			return
		}
		p.announce(ctx)
	}
}

// announce says that this worker is alive, and counts.
func (p *presence) announce(ctx context.Context) {
	if !p.js.Conn().IsConnected() {
		return
	}
	err := p.say(ctx, p.state())
	if err == nil {
		err = p.count(ctx)
	}
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) && !p.complained {
		p.log.Warn("the workers cannot count each other, at small limits chunks may be delivered more often than necessary", "error", wire.CleanError(err.Error()))
	}
	p.complained = err != nil
}

// leave says that this worker has stopped.
func (p *presence) leave(ctx context.Context) {
	state := p.state()
	state.State = "stopped"
	_ = p.say(ctx, state) // it is forgotten soon in any case
}

func (p *presence) say(ctx context.Context, state wire.WorkerState) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	first := p.key == ""
	if first {
		// Two workers may have one name, such as containers of one host.
		p.key = fmt.Sprintf("%s.%08x", wire.EncodeToken(state.Worker), uint32(p.rand()*(1<<32)))
	}
	subject := "$KV." + p.names.WorkersBucket() + "." + p.key
	_, err := p.js.Publish(ctx, subject, state.Encode(), jetstream.WithRetryAttempts(0))
	if err == nil {
		return nil
	}
	created, ensureErr := wire.EnsureWorkers(ctx, p.js, p.names)
	object := "bucket " + p.names.WorkersBucket()
	switch {
	case ensureErr != nil:
		return ensureErr
	case created && first:
		p.log.Info("created", "object", object)
	case created:
		p.log.Warn("was missing and has been created again", "object", object)
	case !errors.Is(err, jetstream.ErrNoStreamResponse): // else another worker made it meanwhile
		return err
	}
	_, err = p.js.Publish(ctx, subject, state.Encode())
	return err
}

func (p *presence) count(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	stream, err := p.js.Stream(ctx, "KV_"+p.names.WorkersBucket())
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if !info.TimeStamp.IsZero() {
		p.ahead.Store(int64(info.TimeStamp.Sub(p.clock())))
	}
	p.entries = int64(max(1, info.State.Msgs))
	p.tell()
	return nil
}

// tell says how many workers there are.
func (p *presence) tell() { p.counted(max(1, p.entries-p.agreed.strangers)) }

// serverTime is what the server's clock says when this worker's says now.
func (p *presence) serverTime(now time.Time) time.Time { return now.Add(time.Duration(p.ahead.Load())) }

// state is what this worker says of itself.
func (w *Worker) state() wire.WorkerState {
	status := w.Status()
	state := wire.WorkerState{
		Worker: w.cfg.WorkerName, Version: w.cfg.Version, StartedAt: w.started.UTC(), At: w.cfg.Clock().UTC(),
		State: "consuming", Problem: wire.CleanError(status.Problem),
		Slots: status.Concurrency, InFlight: status.ChunksInHand, Circuit: w.cfg.Circuit,
	}
	if s := w.cfg.CircuitSettings; s != (CircuitSettings{}) {
		state.CircuitSettings = &wire.CircuitSettings{FailureThreshold: s.FailureThreshold, RecoveryTimeoutMS: s.RecoveryTimeout.Milliseconds(), HalfOpenMaxCalls: s.HalfOpenMaxCalls}
	}
	if limits := w.cfg.Limits; limits.Requests != resilience.Unlimited {
		state.RPM = limits.Requests
	}
	if state.TPM = w.cfg.Limits.Tokens; state.RPM > 0 || state.TPM > 0 {
		state.WindowMS = cmp.Or(w.cfg.Limits.Window, resilience.DefaultWindow).Milliseconds()
	}
	var held bool
	state.Lanes, held = w.chunks.standing(time.Now())
	switch {
	case status.Draining:
		state.State = "draining"
	case held || status.Problem != "":
		state.State = "waiting"
	}
	w.mu.Lock()
	state.Took, state.Age = maps.Clone(w.took), maps.Clone(w.age)
	w.mu.Unlock()
	for outcome, n := range status.Outcomes {
		switch {
		case outcome == outcomeExtracted:
			state.Results += n
		case strings.HasPrefix(outcome, outcomeDead):
			state.Dead += n
		case outcome == outcomeAlreadyDone, outcome == outcomeSplit, outcome == outcomeLost:
		default:
			state.Nak += n
		}
	}
	return state
}

// standing is of how many tenants this worker has lately heard, and whether
// something keeps it from taking anything of any of them.
func (s *lanes) standing(now time.Time) (tenants int, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all), now.Before(s.closed)
}
