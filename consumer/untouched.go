package consumer

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const (
	// untouchedFor is how long the answer that no chunk of a document has a result
	// serves for its other chunks. It is as long as what is read of a closed circuit
	// serves, and shorter than most model calls.
	untouchedFor = 20 * time.Millisecond
	// mostDocuments is of how many documents answers are remembered.
	mostDocuments = 256
)

// look looks whether c, which d has brought, needs no extraction.
func (r results) look(ctx context.Context, tenant string, c extraction.Chunk, d delivery) (stored, bool, error) {
	// Where the message has the chunk's id, the stream has refused other copies of late.
	// Without, one may have been done a moment ago.
	if c.Total > 1 && !d.again() && d.msg.Header.Get(nats.MsgIdHdr) == c.ChunkID {
		return r.first(ctx, tenant, c, d.meta.Timestamp)
	}
	return r.answered(ctx, tenant, c, d.meta.Timestamp)
}

// first looks whether c, which nobody had in hand before, needs no extraction. It asks
// about the whole document: as a rule that is new, and then one answer does for the
// chunks that come together, where a look for each would be a tenth of all that is done
// about a chunk beside the model call. Of a document that has results it looks for the
// chunk's own.
func (r results) first(ctx context.Context, tenant string, c extraction.Chunk, origin time.Time) (stored, bool, error) {
	document, now := r.names.ResultFilter(tenant, c.DocumentID), time.Now()
	untouched, known := r.seen.recall(document, now)
	if !known {
		var err error
		if untouched, err = r.untouched(ctx, document); err != nil {
			return stored{}, false, err
		}
		r.seen.remember(document, untouched, now)
	}
	if untouched {
		return stored{}, false, nil
	}
	return r.answered(ctx, tenant, c, origin)
}

// untouched asks the server whether no chunk of a document has a result.
func (r results) untouched(ctx context.Context, document string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	info, err := r.stream.Info(ctx, jetstream.WithSubjectFilter(document))
	if err != nil {
		return false, &storeError{"look for results of the document", err}
	}
	return len(info.State.Subjects) == 0, nil
}

// sights remember which documents had no result a moment ago, and which had some, by the
// subjects of their results. Safe for concurrent use; the zero value is empty.
type sights struct {
	mu  sync.Mutex
	all map[string]sight
}

// sight is what was seen of a document.
type sight struct {
	untouched bool
	at        time.Time
}

// recall tells what is known of a document. That it has results is known for good: where
// that is wrong, only a look for the chunk's own is made that would not be needed.
func (s *sights) recall(document string, now time.Time) (untouched, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.all[document]
	return last.untouched, known && (!last.untouched || now.Sub(last.at) < untouchedFor)
}

func (s *sights) remember(document string, untouched bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) == mostDocuments {
		s.all = map[string]sight{} // old sights are worth little
	}
	s.all[document] = sight{untouched, at}
}
