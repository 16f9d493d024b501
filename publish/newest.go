package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// newestTries is how many sequences are looked at for each letter that is wanted:
// there may be gaps, where letters were sent again.
const newestTries = 4

// NewestLetters returns the newest dead letters, at most that many, the newest first.
// It costs a request for each; where many in a row were removed it may find fewer
// than there are.
func NewestLetters(ctx context.Context, js jetstream.JetStream, names wire.Names, most int) ([]Letter, error) {
	letters := []Letter{}
	stream, err := js.Stream(ctx, names.DeadStream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return letters, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	state := stream.CachedInfo().State
	sequence := state.LastSeq
	for tries := 0; tries < most*newestTries && len(letters) < most && state.Msgs > 0 && sequence >= max(state.FirstSeq, 1); tries++ {
		raw, err := stream.GetMsg(ctx, sequence)
		sequence--
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read dead letters: %w", err)
		}
		// What others have put into the stream is left out.
		if letter, err := newLetter(names, &nats.Msg{Subject: raw.Subject, Header: raw.Header, Data: raw.Data}, raw.Sequence); err == nil {
			letters = append(letters, letter)
		}
	}
	return letters, nil
}
