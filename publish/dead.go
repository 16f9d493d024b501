package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Letter is a dead letter as it is stored.
type Letter struct {
	Sequence uint64 `json:"sequence"` // in the stream of dead letters
	Tenant   string `json:"tenant"`
	Dead
	// Replayed is the trail of a message that was set aside before and sent again.
	Replayed []string `json:"replayed,omitempty"`
	// Message is the letter itself.
	Message *nats.Msg `json:"-"`
}

// LetterFilter chooses dead letters; the zero value is all of them.
type LetterFilter struct {
	Tenant string
	Kind   string
	// Before and After bound when the message failed.
	Before, After time.Time
	// Unreadable adds messages in the stream of dead letters whose headers say not what
	// was set aside: letters of the kind [KindUnreadable], failed when they were stored,
	// with what is wrong as their error. They cannot be sent again.
	Unreadable bool
}

// KindUnreadable is no kind that a dead letter has: its headers cannot be read.
const KindUnreadable = "unreadable"

func (f LetterFilter) takes(l Letter) bool {
	return (f.Tenant == "" || l.Tenant == f.Tenant) && (f.Kind == "" || l.Kind == f.Kind) &&
		(f.Before.IsZero() || l.FailedAt.Before(f.Before)) && (f.After.IsZero() || l.FailedAt.After(f.After))
}

// Letters yields the dead letters that are there now, oldest first. What others
// have put into the stream is left out.
func Letters(ctx context.Context, js jetstream.JetStream, names wire.Names, filter LetterFilter) iter.Seq2[Letter, error] {
	return func(yield func(Letter, error) bool) {
		stream, err := js.Stream(ctx, names.DeadStream())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return // nothing was set aside, because nothing was ever published
		}
		if err != nil {
			yield(Letter{}, fmt.Errorf("read dead letters: %w", err))
			return
		}
		last := stream.CachedInfo().State.LastSeq
		subject := names.DeadFilter()
		if filter.Tenant != "" {
			subject = names.DeadSubject(filter.Tenant)
		}
		for msg, err := range readStream(ctx, js, names.DeadStream(), []string{subject}, 0) {
			if err != nil {
				yield(Letter{}, fmt.Errorf("read dead letters: %w", err))
				return
			}
			meta, err := msg.Metadata()
			if err != nil {
				yield(Letter{}, err)
				return
			}
			if meta.Sequence.Stream > last {
				return // set aside since: a replay that failed again must not be replayed again
			}
			letter, err := newLetter(names, &nats.Msg{Subject: msg.Subject(), Header: msg.Headers(), Data: msg.Data()}, meta.Sequence.Stream)
			if err != nil {
				letter.FailedAt = meta.Timestamp
			}
			if err != nil && !filter.Unreadable || !filter.takes(letter) {
				continue
			}
			if !yield(letter, nil) {
				return
			}
		}
	}
}

// ReadLetter returns the dead letter with that sequence. The error is a
// [*NoLetterError] if there is none, and a [*wire.InvalidMessageError] beside a letter
// of the kind [KindUnreadable].
func ReadLetter(ctx context.Context, js jetstream.JetStream, names wire.Names, sequence uint64) (Letter, error) {
	stream, err := js.Stream(ctx, names.DeadStream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return Letter{}, &NoLetterError{sequence}
	}
	if err != nil {
		return Letter{}, fmt.Errorf("read dead letter %d: %w", sequence, err)
	}
	raw, err := stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Letter{}, &NoLetterError{sequence}
	}
	if err != nil {
		return Letter{}, fmt.Errorf("read dead letter %d: %w", sequence, err)
	}
	letter, err := newLetter(names, &nats.Msg{Subject: raw.Subject, Header: raw.Header, Data: raw.Data}, sequence)
	if err != nil {
		letter.FailedAt = raw.Time
	}
	return letter, err
}

func newLetter(names wire.Names, msg *nats.Msg, sequence uint64) (Letter, error) {
	tenant, err := names.Tenant(msg.Subject)
	if err != nil {
		tenant = msg.Subject // of a token that does not decode, which is why it was set aside
	}
	dead, err := wire.ParseDeadLetter(msg.Header)
	if err != nil {
		broken := wire.DeadLetter{Kind: KindUnreadable, Error: wire.CleanError(err.Error())}
		return Letter{Sequence: sequence, Tenant: tenant, Dead: Dead{DeadLetter: broken}, Message: msg}, fmt.Errorf("dead letter %d: %w", sequence, err)
	}
	return Letter{
		Sequence: sequence, Tenant: tenant, Dead: identify(names, tenant, dead, msg),
		Replayed: msg.Header.Values(wire.HeaderReplayed), Message: msg,
	}, nil
}

// CheckReplay says whether [Replay] would send the letter, and sends nothing: a
// [*wire.InvalidMessageError] if there is no way back, a [*SupersededError].
func CheckReplay(ctx context.Context, js jetstream.JetStream, names wire.Names, letter Letter) error {
	if _, err := names.Replay(letter.Message, letter.Sequence); err != nil {
		return err
	}
	return superseded(ctx, js, names, letter)
}

// Replay sends what was set aside again, waits until its stream has it, and only
// then removes the letter. Interrupted in between, it can be repeated: within two
// minutes the stream takes the message for the same one, later a chunk that
// has a result is settled without a model call. Errors are those of
// [CheckReplay], or NATS's.
func Replay(ctx context.Context, js jetstream.JetStream, names wire.Names, letter Letter) error {
	if err := CheckReplay(ctx, js, names, letter); err != nil {
		return err
	}
	msg, err := names.Replay(letter.Message, letter.Sequence)
	if err != nil {
		return err
	}
	if _, err := js.PublishMsg(ctx, msg, jetstream.WithExpectStream(names.OriginStream(msg.Subject))); err != nil {
		return fmt.Errorf("publish again: %w", err)
	}
	stream, err := js.Stream(ctx, names.DeadStream())
	if err == nil {
		err = stream.DeleteMsg(ctx, letter.Sequence)
	}
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("sent again, but the letter could not be removed: %w", err)
	}
	return nil
}

// superseded looks for a result that a replay would set back: of two versions of
// a chunk the one stays that was accepted later, and a replay is accepted now.
func superseded(ctx context.Context, js jetstream.JetStream, names wire.Names, letter Letter) error {
	if letter.ChunkID == "" {
		return nil // not a chunk
	}
	stream, err := js.Stream(ctx, names.ResultStream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a result: %w", err)
	}
	raw, err := stream.GetLastMsgForSubject(ctx, names.ResultSubject(letter.Tenant, letter.DocumentID, letter.Index))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a result: %w", err)
	}
	result, err := wire.DecodeResult(raw.Data)
	if err != nil || result.ChunkID == letter.ChunkID || raw.Time.Before(letter.FailedAt) {
		return nil
	}
	return &SupersededError{letter.DocumentID, letter.Index}
}
