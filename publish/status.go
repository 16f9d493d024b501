package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Status is how far the fleet is with a tenant's documents.
type Status struct {
	Tenant    string           `json:"tenant"`
	Documents []DocumentStatus `json:"documents"`
	// WaitingChunks are the chunks of the tenant that no worker has settled yet,
	// those in work included. A document none of whose chunks is settled is
	// counted only here.
	WaitingChunks uint64 `json:"waiting_chunks"`
	// WaitingDocuments are the raw documents that are not split yet.
	WaitingDocuments uint64 `json:"waiting_documents"`
	// Unreadable counts the dead letters that belong to no document, by kind.
	Unreadable map[string]int `json:"unreadable"`
}

// DocumentStatus is how far the fleet is with one document.
type DocumentStatus struct {
	DocumentID string           `json:"document_id"`
	Chunks     int              `json:"chunks"` // in all, as far as is known
	Done       int              `json:"done"`
	Partial    int              `json:"partial"` // of Done: rows were salvaged from a broken answer
	Dead       map[string]int   `json:"dead"`    // by kind
	Waiting    int              `json:"waiting"` // the rest
	Usage      extraction.Usage `json:"usage"`
	UpdatedAt  time.Time        `json:"updated_at"`
}

// DeadChunks is how many chunks of the document were dead-lettered.
func (d DocumentStatus) DeadChunks() int {
	dead := 0
	for _, n := range d.Dead {
		dead += n
	}
	return dead
}

// Status reads how far documents are, all of the tenant's for none. A document
// that was published again counts in its newest version.
func (r *Reader) Status(ctx context.Context, documents ...string) (Status, error) {
	status := Status{Tenant: r.tenant, Documents: []DocumentStatus{}, Unreadable: map[string]int{}}
	// First: what is settled meanwhile is in the results, and not missed.
	var err error
	if status.WaitingChunks, err = r.waiting(ctx, r.names.ChunkStream(), r.names.ChunkSubject(r.tenant)); err != nil {
		return Status{}, err
	}
	status.WaitingDocuments, err = r.waiting(ctx, r.names.DocumentStream(), r.names.DocumentSubject(r.tenant))
	if err != nil {
		return Status{}, err
	}
	byID := map[string]*tally{}
	of := func(document string) *tally {
		if byID[document] == nil {
			byID[document] = &tally{}
		}
		return byID[document]
	}
	for result, err := range r.results(ctx, documents, 0) {
		if err != nil {
			return Status{}, err
		}
		of(result.value.DocumentID).addResult(result)
	}
	for letter, err := range r.deadLetters(ctx, 0) {
		if err != nil {
			return Status{}, err
		}
		id := letter.value.DocumentID
		switch {
		case id == "":
			status.Unreadable[letter.value.Kind]++
		case len(documents) == 0 || slices.Contains(documents, id):
			of(id).addDead(letter)
		}
	}
	for id, t := range byID {
		if document, any := t.status(id, status.WaitingChunks); any {
			status.Documents = append(status.Documents, document)
		}
	}
	slices.SortFunc(status.Documents, func(a, b DocumentStatus) int { return cmp.Compare(a.DocumentID, b.DocumentID) })
	return status, nil
}

// waiting counts the messages on one subject of a work queue.
func (r *Reader) waiting(ctx context.Context, stream, subject string) (uint64, error) {
	s, err := r.js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("stream %s: %w", stream, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return 0, fmt.Errorf("stream %s: %w", stream, err)
	}
	return info.State.Subjects[subject], nil
}
