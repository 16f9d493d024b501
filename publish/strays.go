package publish

import (
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// Strays are messages in the stream of results that are no results: somebody else put
// them there. They are left out, since one of them must not hide what the fleet did.
type Strays struct {
	Count int // 0: there are none
	// Of the one that was found first.
	Sequence uint64
	Subject  string
	Reason   string // why it is no result
}

// strayError is a message that is no result.
type strayError struct {
	sequence uint64
	err      error
}

func (e *strayError) Error() string { return fmt.Sprintf("message %d: %v", e.sequence, e.err) }

func (e *strayError) Unwrap() error { return e.err }

// strays remembers those that were found, each once however often it is read.
type strays struct {
	mu    sync.Mutex
	first Strays
	seen  map[uint64]struct{}
}

func (s *strays) add(msg jetstream.Msg, sequence uint64, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[uint64]struct{}{}
		s.first = Strays{Sequence: sequence, Subject: msg.Subject(), Reason: why.Error()}
	}
	s.seen[sequence] = struct{}{}
}

// Strays are those that were met by all that was read so far.
func (r *Reader) Strays() Strays {
	r.strays.mu.Lock()
	defer r.strays.mu.Unlock()
	found := r.strays.first
	found.Count = len(r.strays.seen)
	return found
}
