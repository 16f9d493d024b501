package natskv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// standing is a stream as it was found or made.
type standing struct {
	jetstream.StreamConfig
	born    time.Time // by the server's clock
	created bool      // just now, by us
}

// ensureStream creates a stream unless there is one of that name.
func (c *client) ensureStream(ctx context.Context, want jetstream.StreamConfig) (standing, error) {
	s, err := c.findStream(ctx, want.Name)
	created := false
	for errors.Is(err, jetstream.ErrStreamNotFound) {
		want.FirstSeq = c.firstSequence()
		s, err = c.js.CreateStream(ctx, want)
		created = err == nil
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			// Somebody else is making it; in a cluster that takes a moment.
			if err := c.wait(ctx, pause); err != nil {
				return standing{StreamConfig: want}, err
			}
			s, err = c.findStream(ctx, want.Name)
		}
	}
	if err != nil {
		return standing{StreamConfig: want}, fmt.Errorf("natskv: stream %s: %w", want.Name, refusal(ctx, err))
	}
	info := s.CachedInfo()
	return standing{info.Config, info.Created, created}, nil
}

// findPatience is how long the first question for a stream waits.
const findPatience = 250 * time.Millisecond

// findStream asks again where nobody answers: servers that are still electing a
// leader for a stream that was just made say nothing, and do not come back to it.
func (c *client) findStream(ctx context.Context, name string) (jetstream.Stream, error) {
	for patience := findPatience; ; patience *= 2 {
		limited, cancel := context.WithTimeout(ctx, patience)
		s, err := c.js.Stream(limited, name)
		unanswered := err != nil && limited.Err() != nil && ctx.Err() == nil
		cancel()
		if !unanswered {
			return s, err
		}
	}
}

// firstSequence is where a new stream begins: at the time in Unix microseconds.
// If somebody deletes a stream, the one made in its place thus has no sequence that
// the old one had, and whatever a process, a caller or a message on its way
// remembers of the old one (a version, an admission, what it has read so far) is
// never taken for something in the new one.
func (c *client) firstSequence() uint64 {
	now := c.clock.now()
	if now == 0 { // the server has not told its time yet
		now = time.Now().UnixNano()
	}
	return uint64(max(1, now/int64(time.Microsecond)))
}

// life tells a stream from one that was made in its place. Safe for concurrent
// use.
type life struct {
	mu   sync.Mutex
	born time.Time
}

// renewed reports whether the stream that is there now is not the one that was
// there when it was last asked.
func (l *life) renewed(born time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.born
	l.born = born
	return !before.IsZero() && !before.Equal(born)
}

// requirement is one field that has to be in a certain way.
type requirement struct {
	field string
	met   bool
	have  any
	need  any
}

func firstMismatch(stream string, requirements []requirement) error {
	for _, r := range requirements {
		if !r.met {
			return &MismatchError{Stream: stream, Field: r.field, Have: fmt.Sprint(r.have), Need: fmt.Sprint(r.need)}
		}
	}
	return nil
}
