package consumer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// deadLetters sets messages aside.
type deadLetters struct {
	js       jetstream.JetStream
	names    wire.Names
	observer Observer
}

func newLetter(d delivery, v verdict, cause error, attempts int, now time.Time) wire.DeadLetter {
	letter := wire.DeadLetter{
		Kind: v.kind, Error: wire.CleanError(cause.Error()), Attempts: attempts, Deliveries: d.number(),
		OriginSubject: d.msg.Subject, OriginSequence: d.meta.Sequence.Stream, FailedAt: now.UTC(),
	}
	if usage := extraction.UsageOf(cause); usage != (extraction.Usage{}) {
		letter.Usage = &usage
	}
	return letter
}

// write stores the letter and waits for its PubAck. Written twice, for the same
// message, it is stored once.
func (s deadLetters) write(ctx context.Context, d delivery, letter wire.DeadLetter) error {
	msg := &nats.Msg{
		Subject: s.names.DeadSubjectFor(d.msg.Subject),
		Header:  letter.Header(d.msg.Header),
		Data:    d.msg.Data,
	}
	msg.Header.Set(nats.MsgIdHdr, d.id())
	s.observer.Sends(ctx, msg.Header)
	if err := wire.FitDeadLetter(msg, s.js.Conn().MaxPayload()); err != nil {
		// In words only: that a letter does not fit is no fault of the message, which
		// would be set aside for it again, at once and for ever.
		return &storeError{"fit dead letter", errors.New(err.Error())}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*opTimeout)
	defer cancel()
	if _, err := s.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(s.names.DeadStream())); err != nil {
		return &storeError{"write dead letter", err}
	}
	return nil
}

// bury sets a message aside that cannot be done. failed is how many attempts were counted
// with this one. After an error nothing is settled and stop was not called.
func (w *Worker) bury(ctx context.Context, d delivery, v verdict, cause error, failed int, stop func()) error {
	if !v.attempt {
		failed, _ = w.attempts.failed(ctx, d)
	}
	w.logPanic(ctx, d, cause)
	s := sentence{letter: newLetter(d, v, cause, failed, w.cfg.Clock()), attempt: v.attempt}
	// Another delivery might not come to the same decision, unless the message cannot be
	// read.
	if s.noted = s.letter.Kind != wire.KindInvalidMessage; s.noted {
		if err := w.attempts.condemn(ctx, d, s.letter); err != nil {
			return err
		}
	}
	return w.setAside(ctx, d, s, stop)
}

// sentence is the decision to set a message aside.
type sentence struct {
	letter  wire.DeadLetter
	noted   bool // for whoever takes over, see [attempts.condemn]
	attempt bool // this delivery was counted as one
}

// setAside writes the dead letter, and settles the original once that is stored. After
// an error nothing is settled and stop was not called.
func (w *Worker) setAside(ctx context.Context, d delivery, s sentence, stop func()) error {
	letter := s.letter
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
	w.count(outcomeDead + letter.Kind)
	w.tell(ctx, slog.LevelWarn, d, "set aside", "kind", letter.Kind, "attempts", letter.Attempts, "deliveries", letter.Deliveries, "error", letter.Error)
	if err := w.ack(ctx, d); err != nil {
		w.tell(ctx, slog.LevelWarn, d, "could not settle, the message will be delivered again", "kind", letter.Kind, "error", err)
	} else {
		w.attempts.forget(ctx, d, letter.Attempts > 0, s.noted)
	}
	w.observer.Settled(ctx, Settlement{
		Outcome: outcomeDead + letter.Kind, Done: true, Dead: letter.Kind, Attempt: s.attempt, Attempts: letter.Attempts, Err: errors.New(letter.Error),
	})
	return nil
}
