package statuspage

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	// readEvery is how often something is read for all viewers together.
	readEvery = 2 * time.Second
	// readTimeout bounds one reading.
	readTimeout = 5 * time.Second
)

// shared is an answer that all viewers share. It is read when somebody asks and it
// is old.
type shared struct {
	read  func(context.Context) (any, error)
	clock func() time.Time

	mu     sync.Mutex // held while it is read: whoever asks meanwhile gets that answer
	asked  time.Time
	text   []byte // of the last reading that succeeded, a JSON object; nil before
	failed string // why the last one did not; "" if it did
}

func newShared(clock func() time.Time, read func(context.Context) (any, error)) *shared {
	return &shared{read: read, clock: clock}
}

// serve answers with what was read last. If it could not be read again since, it has
// a member "error" with the reason, and its "at" says how old it is; if it never
// could, the status is 503.
func (s *shared) serve(w http.ResponseWriter, r *http.Request) {
	text, failed := s.get(r.Context())
	switch {
	case text == nil:
		refuse(w, http.StatusServiceUnavailable, failed)
	case failed != "":
		reason, err := json.Marshal(failed)
		if err != nil {
			reason = []byte(`"cannot be read"`)
		}
		// The text is an object that has members.
		answerText(w, http.StatusOK, append(append([]byte(`{"error":`), reason...), append([]byte(","), text[1:]...)...))
	default:
		answerText(w, http.StatusOK, text)
	}
}

func (s *shared) get(ctx context.Context) (text []byte, failed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock(); s.asked.IsZero() || now.Sub(s.asked) >= readEvery {
		s.asked = now
		// One who goes away must not spoil the reading of the others.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		s.failed = ""
		value, err := s.read(ctx)
		if err == nil {
			var text []byte
			if text, err = json.Marshal(value); err == nil {
				s.text = text
			}
		}
		if err != nil {
			s.failed = wire.CleanError(err.Error())
		}
	}
	return s.text, s.failed
}
