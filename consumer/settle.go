package consumer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// handler does the work that a message asks for, and names what came of it. A
// nil error means that all of it is stored.
type handler func(context.Context, delivery) (outcome string, err error)

// deliver takes one message from receipt to settlement. It never panics and
// never leaves a message unsettled that the server would answer for.
func (w *Worker) deliver(ctx context.Context, d delivery, ackWait time.Duration, handle handler) {
	alive := d.keepAlive(ackWait, w.js.Conn().IsConnected)
	ctx = w.observer.Took(ctx, w.message(d))
	// Settling has time of its own: it must also work when ctx has ended.
	settling := context.WithoutCancel(ctx)

	letter, condemned, err := w.attempts.condemned(settling, d)
	if condemned {
		// Another worker died between deciding and settling.
		if err = w.setAside(settling, d, sentence{letter: letter, noted: true}, alive.stop); err == nil {
			return
		}
	}
	if err != nil {
		w.settle(settling, d, judge(ctx, err, 0), err, alive.stop)
		return
	}
	v, err := w.work(ctx, d, handle, alive)
	w.settle(settling, d, v, err, alive.stop)
}

// work does what the message asks for, within the chunk's deadline, and judges what came
// of it.
func (w *Worker) work(ctx context.Context, d delivery, handle handler, alive *pulse) (verdict, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithValue(ctx, pulseKey{}, alive), w.cfg.ChunkDeadline, errDeadline)
	defer cancel()
	outcome, err := run(ctx, d, handle)
	v := judge(ctx, err, w.ownDelay(d.number()-1))
	switch {
	case err == nil:
		v.name = outcome
	case alive.lost():
		v = verdict{name: outcomeLost, action: leave}
	}
	return v, err
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
		err := w.bury(ctx, d, v, cause, failed, stop)
		if err == nil {
			return
		}
		v, cause = judge(ctx, err, 0), err
	}

	stop()
	w.count(v.name)
	if err := w.carryOut(ctx, d, v, cause, failed); err != nil {
		// The server gives the message to somebody else after AckWait.
		w.tell(ctx, slog.LevelWarn, d, "could not settle, the message will be delivered again", "error", err)
	}
	w.observer.Settled(ctx, Settlement{
		Outcome: v.name, Done: v.action == settle, PutBack: v.action == giveBack || v.action == later, Delay: v.delay,
		Attempt: v.attempt, Attempts: failed, Err: cause,
	})
}

// carryOut tells the server what becomes of a message that is not set aside.
func (w *Worker) carryOut(ctx context.Context, d delivery, v verdict, cause error, failed int) error {
	switch v.action {
	case settle:
		return w.finish(ctx, d, v)
	case giveBack:
		return w.giveBack(ctx, d, v)
	case leave:
		w.tell(ctx, slog.LevelWarn, d, "the server has not heard of this worker for longer than the ack wait, and gives the message to another", "outcome", v.name, "error", cause)
		return nil
	default:
		return w.putBack(ctx, d, v, cause, failed)
	}
}

// finish gives up a message of which everything is stored.
func (w *Worker) finish(ctx context.Context, d delivery, v verdict) error {
	if d.lane != nil && v.name == outcomeExtracted {
		w.chunks.stored(d.lane)
	}
	err := w.ack(ctx, d)
	if err == nil && d.again() {
		w.attempts.forget(ctx, d, true, false)
	}
	w.tell(ctx, slog.LevelDebug, d, "done", "outcome", v.name)
	return err
}

// giveBack returns a message to the queue for whoever asks next.
func (w *Worker) giveBack(ctx context.Context, d delivery, v verdict) error {
	err := w.nak(ctx, d, 0)
	if d.lane != nil {
		w.chunks.offer(d.lane.token)
	}
	w.tell(ctx, slog.LevelInfo, d, "given back, the worker is stopping", "outcome", v.name)
	return err
}

// putBack returns a message to the queue for later, and has the lane take notice of why.
func (w *Worker) putBack(ctx context.Context, d delivery, v verdict, cause error, failed int) error {
	err := w.nak(ctx, d, v.delay)
	switch v.name {
	case outcomeStoreUnavailable:
		w.notStored(cause)
	case outcomeExceedsWindow:
		w.tellOversized(d, v.delay, cause)
	}
	if d.lane != nil {
		w.chunks.putBack(d, v.name, v.delay, errors.Is(cause, resilience.ErrContended))
	}
	w.tell(ctx, level(v), d, "put back", "outcome", v.name, "delay", v.delay, "attempts", failed, "error", cause)
	if v.name == outcomeStoreUnavailable {
		w.heal.poke()
	}
	return err
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

// ownDelay is the worker's own wait before delivery n+1 after n failures.
func (w *Worker) ownDelay(n int) time.Duration {
	return w.cfg.Backoff.Delay(max(n, 0), w.cfg.Rand())
}
