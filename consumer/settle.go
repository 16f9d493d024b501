package consumer

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// handler does the work that a message asks for, and names what came of it. A
// nil error means that all of it is stored.
type handler func(context.Context, delivery) (outcome string, err error)

// deliver takes one message from receipt to settlement. It never panics and
// never leaves a message unsettled that the server would answer for.
func (w *Worker) deliver(ctx context.Context, d delivery, ackWait time.Duration, handle handler) {
	alive := d.keepAlive(ackWait, w.js.Conn().IsConnected)
	stop := alive.stop
	// Settling has time of its own: it must also work when ctx has ended.
	settling := context.WithoutCancel(ctx)

	letter, condemned, err := w.attempts.condemned(settling, d)
	if err == nil && !condemned {
		hctx, cancel := context.WithTimeoutCause(context.WithValue(ctx, pulseKey{}, alive), w.cfg.ChunkDeadline, errDeadline)
		outcome, err := run(hctx, d, handle)
		v := judge(hctx, err, w.ownDelay(d.number()-1))
		switch {
		case err == nil:
			v.name = outcome
		case alive.lost():
			v = verdict{name: "lost", action: leave}
		}
		cancel()
		w.settle(settling, d, v, err, stop)
		return
	}
	if condemned {
		// Another worker died between deciding and settling.
		err = w.setAside(settling, d, letter, true, stop)
		if err == nil {
			return
		}
	}
	w.settle(settling, d, judge(ctx, err, 0), err, stop)
}

func run(ctx context.Context, d delivery, handle handler) (outcome string, err error) {
	defer recovered(&err)
	return handle(ctx, d)
}

// settle carries out a verdict. stop ends the in-progress acks and must be
// called before anything that settles the message.
func (w *Worker) settle(ctx context.Context, d delivery, v verdict, cause error, stop func()) {
	log := w.log.With("subject", d.msg.Subject(), "sequence", d.meta.Sequence.Stream, "delivery", d.number(), "outcome", v.name)
	failed := 0
	if v.attempt {
		var err error
		if failed, err = w.attempts.fail(ctx, d); err != nil {
			v, cause = judge(ctx, err, 0), err
		}
	}
	if v.action == backoff {
		if failed >= w.cfg.MaxAttempts {
			v.action = dead
		} else {
			v.action, v.delay = later, max(v.delay, w.ownDelay(failed-1), minDelay)
		}
	}
	if v.action == dead {
		if !v.attempt {
			failed, _ = w.attempts.failed(ctx, d)
		}
		logPanic(log, cause)
		letter := newLetter(d, v, cause, failed, w.cfg.Clock())
		err := w.condemn(ctx, d, letter)
		if err == nil {
			err = w.setAside(ctx, d, letter, v.kind != wire.KindInvalidMessage, stop)
		}
		if err == nil {
			return
		}
		v, cause = judge(ctx, err, 0), err
	}

	stop()
	w.count(v.name)
	var err error
	switch v.action {
	case settle:
		if err = d.ack(ctx); err == nil && d.again() {
			w.attempts.forget(ctx, d, true, false)
		}
		log.Debug("done")
	case giveBack:
		if err = d.nak(0); d.lane != nil {
			w.chunks.offer(d.lane.token)
		}
		log.Info("given back, the worker is stopping")
	case leave:
		log.Warn("the server has not heard of this worker for longer than the ack wait, and gives the message to another", "error", wire.CleanError(cause.Error()))
	default:
		err = d.nak(v.delay)
		if d.lane != nil {
			w.chunks.putBack(d, v.name, v.delay)
		}
		log.Log(ctx, level(v), "put back", "delay", v.delay, "attempts", failed, "error", wire.CleanError(cause.Error()))
		if v.name == storeUnavailable {
			w.heal.poke()
		}
	}
	if err != nil {
		// The server gives the message to somebody else after AckWait.
		log.Warn("could not settle, the message will be delivered again", "error", err.Error())
	}
}

// condemn notes a decision that another delivery might not come to again. That a
// message cannot be read is not one.
func (w *Worker) condemn(ctx context.Context, d delivery, letter wire.DeadLetter) error {
	if letter.Kind == wire.KindInvalidMessage {
		return nil
	}
	return w.attempts.condemn(ctx, d, letter)
}

// setAside writes the dead letter, and settles the original once that is stored.
// After an error nothing is settled and stop was not called.
func (w *Worker) setAside(ctx context.Context, d delivery, letter wire.DeadLetter, noted bool, stop func()) error {
	if err := w.dead.write(ctx, d, letter); err != nil {
		return err
	}
	stop()
	w.count("dead_" + letter.Kind)
	log := w.log.With("subject", d.msg.Subject(), "sequence", d.meta.Sequence.Stream, "kind", letter.Kind)
	log.Warn("set aside", "attempts", letter.Attempts, "deliveries", letter.Deliveries, "error", letter.Error)
	if err := d.ack(ctx); err != nil {
		log.Warn("could not settle, the message will be delivered again", "error", err.Error())
		return nil
	}
	w.attempts.forget(ctx, d, letter.Attempts > 0, noted)
	return nil
}

// ownDelay is the worker's own wait before delivery n+1 after n failures.
func (w *Worker) ownDelay(n int) time.Duration {
	return w.cfg.Backoff.Delay(max(n, 0), w.cfg.Rand())
}

func logPanic(log *slog.Logger, cause error) {
	if p, ok := cause.(*panicError); ok {
		log.Error("handler panicked", "error", p.Error(), "stack", string(p.stack))
	}
}

// level is quiet about what is everyday for a fleet under a limit.
func level(v verdict) slog.Level {
	if v.attempt || v.name == storeUnavailable || v.name == "auth" || v.name == "quota" {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
