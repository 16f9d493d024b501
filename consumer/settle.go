package consumer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// handler does the work that a message asks for, and names what came of it. A
// nil error means that all of it is stored.
type handler func(context.Context, delivery) (outcome string, err error)

// deliver takes one message from receipt to settlement. It never panics and
// never leaves a message unsettled that the server would answer for.
func (w *Worker) deliver(ctx context.Context, d delivery, ackWait time.Duration, handle handler) {
	alive := d.keepAlive(ackWait, w.js.Conn().IsConnected)
	stop := alive.stop
	ctx = w.observer.Took(ctx, w.message(d))
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
		err = w.setAside(settling, d, letter, true, false, stop)
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
		w.logPanic(ctx, d, cause)
		letter := newLetter(d, v, cause, failed, w.cfg.Clock())
		err := w.condemn(ctx, d, letter)
		if err == nil {
			err = w.setAside(ctx, d, letter, v.kind != wire.KindInvalidMessage, v.attempt, stop)
		}
		if err == nil {
			return
		}
		v, cause = judge(ctx, err, 0), err
	}

	stop()
	w.count(v.name)
	ended := Settlement{Outcome: v.name, Delay: v.delay, Attempt: v.attempt, Attempts: failed, Err: cause}
	var err error
	switch v.action {
	case settle:
		ended.Done = true
		if d.lane != nil && v.name == "extracted" {
			w.chunks.stored(d.lane)
		}
		if err = w.ack(ctx, d); err == nil && d.again() {
			w.attempts.forget(ctx, d, true, false)
		}
		w.tell(ctx, slog.LevelDebug, d, "done", "outcome", v.name)
	case giveBack:
		ended.PutBack = true
		if err = w.nak(ctx, d, 0); d.lane != nil {
			w.chunks.offer(d.lane.token)
		}
		w.tell(ctx, slog.LevelInfo, d, "given back, the worker is stopping", "outcome", v.name)
	case leave:
		w.tell(ctx, slog.LevelWarn, d, "the server has not heard of this worker for longer than the ack wait, and gives the message to another", "outcome", v.name, "error", cause)
	default:
		ended.PutBack = true
		err = w.nak(ctx, d, v.delay)
		if v.name == storeUnavailable {
			w.notStored(cause)
		}
		if v.name == exceedsWindow {
			w.tellOversized(d, v.delay, cause)
		}
		if d.lane != nil {
			w.chunks.putBack(d, v.name, v.delay, errors.Is(cause, resilience.ErrContended))
		}
		w.tell(ctx, level(v), d, "put back", "outcome", v.name, "delay", v.delay, "attempts", failed, "error", cause)
		if v.name == storeUnavailable {
			w.heal.poke()
		}
	}
	if err != nil {
		// The server gives the message to somebody else after AckWait.
		w.tell(ctx, slog.LevelWarn, d, "could not settle, the message will be delivered again", "error", err)
	}
	w.observer.Settled(ctx, ended)
}

// ack and nak are steps for the observer.
func (w *Worker) ack(ctx context.Context, d delivery) error {
	_, ended := w.observer.Step(ctx, StepAck)
	err := d.ack()
	ended(err)
	return err
}

func (w *Worker) nak(ctx context.Context, d delivery, delay time.Duration) error {
	_, ended := w.observer.Step(ctx, StepPutBack)
	err := d.nak(delay)
	ended(err)
	return err
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
// attempt says that this delivery was counted as one. After an error nothing is
// settled and stop was not called.
func (w *Worker) setAside(ctx context.Context, d delivery, letter wire.DeadLetter, noted, attempt bool, stop func()) error {
	writing, written := w.observer.Step(ctx, StepSetAside)
	err := w.dead.write(writing, d, letter)
	written(err)
	if err != nil {
		return err
	}
	stop()
	if d.lane != nil {
		w.chunks.stored(d.lane)
	}
	w.count("dead_" + letter.Kind)
	w.tell(ctx, slog.LevelWarn, d, "set aside", "kind", letter.Kind, "attempts", letter.Attempts, "deliveries", letter.Deliveries, "error", letter.Error)
	if err := w.ack(ctx, d); err != nil {
		w.tell(ctx, slog.LevelWarn, d, "could not settle, the message will be delivered again", "kind", letter.Kind, "error", err)
	} else {
		w.attempts.forget(ctx, d, letter.Attempts > 0, noted)
	}
	w.observer.Settled(ctx, Settlement{
		Outcome: "dead_" + letter.Kind, Done: true, Dead: letter.Kind, Attempt: attempt, Attempts: letter.Attempts, Err: errors.New(letter.Error),
	})
	return nil
}

// ownDelay is the worker's own wait before delivery n+1 after n failures.
func (w *Worker) ownDelay(n int) time.Duration {
	return w.cfg.Backoff.Delay(max(n, 0), w.cfg.Rand())
}
