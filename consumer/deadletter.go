package consumer

import (
	"context"
	"errors"
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
