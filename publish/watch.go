package publish

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// StatusWatch tells how far documents are again and again, and reads each result
// once. It keeps some hundred bytes for each chunk that has one. Not safe for
// concurrent use.
type StatusWatch struct {
	r      *Reader
	filter StatusFilter

	born  time.Time // of the stream of results
	next  uint64    // sequence from which on no result has been read
	fates map[string]map[int]settled
}

// Watch returns a watch that has read nothing yet.
func (r *Reader) Watch(filter StatusFilter) *StatusWatch {
	return &StatusWatch{r: r, filter: filter, fates: map[string]map[int]settled{}}
}

// Look says what [Reader.StatusOf] would say. What it costs grows with the dead
// letters and the results that are new; results that somebody removes are still
// counted, unless the whole stream is made anew.
func (w *StatusWatch) Look(ctx context.Context) (Status, error) {
	status, byID, err := w.r.beginStatus(ctx, w.filter)
	if err != nil {
		return Status{}, err
	}
	if err := w.readOn(ctx); err != nil {
		return Status{}, err
	}
	for id, fates := range w.fates {
		for _, fate := range fates {
			byID.of(id).addResult(fate)
		}
	}
	status.sum(byID)
	return status, nil
}

// readOn reads the results that are new. A later version replaces the one before.
func (w *StatusWatch) readOn(ctx context.Context) error {
	stream, err := w.r.js.Stream(ctx, w.r.names.ResultStream())
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	w.begin(stream.CachedInfo())
	if last := stream.CachedInfo().State.LastSeq; last < w.next {
		return nil
	}
	for result, err := range w.r.results(ctx, w.filter.ids(), w.next) {
		if err != nil {
			return err
		}
		id := result.value.DocumentID
		if !w.filter.takes(id) {
			continue
		}
		if w.fates[id] == nil {
			w.fates[id] = map[int]settled{}
		}
		w.fates[id][result.value.Index] = fateOf(result)
	}
	w.next = stream.CachedInfo().State.LastSeq + 1 // what came meanwhile is read again
	return nil
}

// begin forgets everything if the stream is another one than before.
func (w *StatusWatch) begin(info *jetstream.StreamInfo) {
	if !info.Created.Equal(w.born) || info.State.LastSeq+1 < w.next {
		w.born, w.next = info.Created, 1
		clear(w.fates)
	}
}
