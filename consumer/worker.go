package consumer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

// documentSlots is how many raw documents a worker splits at a time: it is quick
// work, and must not take slots from the slow one.
const documentSlots = 2

// After the drain timeout a worker has to be gone soon, whether NATS answers or not:
// whoever runs it kills it some time later.
const (
	// stopGrace is how long a stopping worker waits for handlers that were told to
	// stop to put their messages back, and to store what was paid for.
	stopGrace = 3 * time.Second
	// cutOffGrace is the same without a connection: it may be back in a moment.
	cutOffGrace = 1500 * time.Millisecond
	// farewell is for what is still to be said when nothing is in hand any more.
	farewell = time.Second
)

// Worker pulls, extracts and settles. Its methods are safe for concurrent use.
type Worker struct {
	js        jetstream.JetStream
	names     wire.Names
	extractor Extractor
	cfg       Config
	log       *slog.Logger
	observer  Observer

	chunks    *lanes
	documents *puller
	attempts  *attempts
	results   results // set by Run
	dead      deadLetters
	heal      healer
	presence  *presence
	shared    wire.Shared // of an earlier version

	started  time.Time
	running  atomic.Bool
	ready    atomic.Bool
	draining atomic.Bool

	mu       sync.Mutex
	outcomes map[string]uint64
	took     wire.Durations // of chunks extracted, in hand
	age      wire.Durations // of the same, since they were accepted
	progress time.Time      // last settlement or answered pull
	problem  string
	unstored error // why a store failed last
}

// New returns a worker. js, the extractor and the store of attempts stay the
// caller's; counts may be lost with the store, at the price of more attempts.
// What is wrong is a [*ConfigError].
func New(js jetstream.JetStream, extractor Extractor, counts kvcache.KeyValue, cfg Config) (*Worker, error) {
	switch {
	case js == nil:
		return nil, &ConfigError{"js", "is required"}
	case extractor == nil:
		return nil, &ConfigError{"extractor", "is required"}
	case counts == nil:
		return nil, &ConfigError{"counts", "is required, for one process kvcache.NewMemory will do"}
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	names, err := wire.NewNames(cfg.Namespace)
	if err != nil {
		return nil, &ConfigError{"Namespace", err.Error()}
	}
	names = names.WithReplicas(cfg.Replicas)
	w := &Worker{
		js: js, names: names, extractor: extractor, cfg: cfg, log: cfg.Logger.With("worker", cfg.WorkerName), observer: cfg.Observer,
		attempts: newAttempts(counts),
		dead:     deadLetters{js, names, cfg.Observer},
		heal:     newHealer(),
		outcomes: map[string]uint64{}, took: wire.Durations{}, age: wire.Durations{}, started: cfg.Clock(),
	}
	w.chunks = newLanes(w, func(ctx context.Context, d delivery, ackWait time.Duration) {
		w.deliver(ctx, d, ackWait, w.handleChunk)
	})
	w.documents = newPuller("documents", documentSlots, func(ctx context.Context, d delivery, ackWait time.Duration) {
		w.deliver(ctx, d, ackWait, w.handleDocument)
	})
	w.presence = &presence{
		js: js, names: names, state: w.state, counted: w.chunks.fleet.Store, clock: cfg.Clock, rand: cfg.Rand, log: w.log,
		agreed: &agreement{bucket: follow.NewBucket(js, names.WorkersBucket()), log: w.log},
	}
	return w, nil
}

// Run creates what is missing on the server and works until ctx ends. Then it
// pulls nothing more, lets what is in hand finish within the drain timeout,
// puts back the rest at once, and returns nil, at most 5 seconds after the drain
// timeout, also if the server does not answer. While it runs nothing ends it: a
// server that is gone, or streams and consumers that were deleted, are waited
// for and healed. An error means that it could not start, such as a
// [*wire.MismatchError].
func (w *Worker) Run(ctx context.Context) error {
	if !w.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer w.running.Store(false)
	if err := w.prepare(ctx); err != nil {
		return err
	}
	w.log.Info("working", "concurrency", w.cfg.Concurrency, "namespace", w.names.Namespace())

	w.presence.begin(ctx)
	work, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	deaf, err := w.chunks.listen(ctx)
	if err != nil {
		return err
	}
	defer deaf()
	pulls := newPulls(w.js, max(w.cfg.Concurrency, documentSlots), w.cameLate)
	defer pulls.end()
	w.chunks.pulls, w.documents.pulls = pulls, pulls
	var loops sync.WaitGroup
	loops.Go(func() { w.keepHealthy(ctx) })
	loops.Go(func() { w.presence.run(ctx) })
	loops.Go(func() { w.chunks.keepLooking(ctx, w.progressed) })
	loops.Go(func() { w.chunks.run(ctx, work) })
	loops.Go(func() { w.documents.run(ctx, work, w.cfg.Rand, w.progressed, w.pullFailed) })
	w.ready.Store(true)
	<-ctx.Done()
	w.ready.Store(false)
	w.draining.Store(true)
	defer w.draining.Store(false)
	w.drain(&loops, giveUp)
	w.takeLeave(context.WithoutCancel(ctx))
	return nil
}

// prepare creates what is missing on the server, and finds out whether the worker can do
// with what there is.
func (w *Worker) prepare(ctx context.Context) error {
	created, err := w.ensure(ctx)
	if inUse, ok := errors.AsType[*wire.SharedInUseError](err); ok {
		w.setProblem(inUse) // and waits for it to pass
	} else if err != nil {
		return err
	}
	if err := wire.CheckLanes(ctx, w.js, w.names); err != nil {
		return err
	}
	if w.results, err = openResults(ctx, w.js, w.names, w.observer); err != nil {
		return err
	}
	for _, object := range created {
		w.log.Info("created", "object", object)
	}
	w.caution(ctx)
	return nil
}

// cameLate tells the fleet of a message that it was put back.
func (w *Worker) cameLate(msg *nats.Msg) {
	w.log.Info("came after it was waited for, and goes to whoever asks next", "subject", msg.Subject)
	if token, ok := w.names.ChunkToken(msg.Subject); ok {
		w.chunks.offer(token)
	}
}

// caution warns of streams that lose something. That it cannot look is no reason not
// to work.
func (w *Worker) caution(ctx context.Context) {
	found, err := wire.Cautions(ctx, w.js, w.names)
	if err != nil {
		w.log.Debug("cannot look at the limits of the streams", "error", err.Error())
	}
	for _, caution := range found {
		w.log.Warn("a stream is set up to lose something: change that unless you mean it", "problem", caution)
	}
}

// drain waits for what is in hand, first kindly, then not.
func (w *Worker) drain(loops *sync.WaitGroup, giveUp context.CancelCauseFunc) {
	w.log.Info("draining", "in_hand", w.inHand(), "timeout", w.cfg.DrainTimeout)
	done := make(chan struct{})
	go func() {
		loops.Wait() // nothing is started after this
		w.chunks.working.wait()
		w.chunks.working.dismiss()
		w.documents.working.Wait()
		close(done)
	}()
	timeout := time.NewTimer(max(0, w.cfg.DrainTimeout))
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
		w.log.Warn("drain timeout is over, giving back what is in hand", "in_hand", w.inHand())
		giveUp(errStopping)
		wait := stopGrace
		if !w.js.Conn().IsConnected() {
			wait = cutOffGrace
		}
		grace := time.NewTimer(wait)
		defer grace.Stop()
		select {
		case <-done:
		case <-grace.C:
			w.log.Error("some handlers do not stop; their messages will be delivered again", "in_hand", w.inHand())
		}
	}
}

// takeLeave sees that the last settlements are with the server, and says that this
// worker has stopped. Nothing depends on either: what was not settled is delivered
// again.
func (w *Worker) takeLeave(ctx context.Context) {
	defer w.log.Info("stopped")
	if !w.js.Conn().IsConnected() {
		w.log.Warn("not connected: what was not settled will be delivered again")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if err := w.js.Conn().FlushWithContext(ctx); err != nil {
		w.log.Warn("could not flush the last settlements", "error", err.Error())
		return
	}
	w.presence.leave(ctx)
}

// Recheck asks the gate again about all tenants that it has refused. Call it when
// limits have changed or a circuit was reset; without it the worker keeps to what
// it was told.
func (w *Worker) Recheck() { w.chunks.recheck() }

func (w *Worker) pullFailed(err error) {
	w.log.Debug("pull failed", "error", err.Error())
	if !errors.Is(err, errSilent) || w.js.Conn().IsConnected() {
		w.heal.poke()
	}
}
