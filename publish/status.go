package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Status is how far the fleet is with a tenant's documents.
type Status struct {
	Tenant    string           `json:"tenant"`
	Documents []DocumentStatus `json:"documents"`
	Total     Progress         `json:"total"` // over Documents
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
	DocumentID string `json:"document_id"`
	Progress
}

// Progress is how far the fleet is with a number of chunks, and what that has used.
type Progress struct {
	Chunks  int            `json:"chunks"` // in all, as far as is known
	Done    int            `json:"done"`
	Partial int            `json:"partial"` // of Done: rows of the answer were unusable and dropped
	Dead    map[string]int `json:"dead"`    // by kind
	Waiting int            `json:"waiting"` // the rest

	// Usage is what the results say they took, and the dead letters that their last
	// call took. What failed attempts before took is not known.
	Usage extraction.Usage `json:"usage"`
	// UsageIncomplete counts those of Done whose model server did not say, or not
	// of every call, how many tokens it took.
	UsageIncomplete int `json:"usage_incomplete"`
	// Cost is that of Usage, nil if nobody has said what a token costs.
	Cost *float64 `json:"cost,omitempty"`

	UpdatedAt time.Time `json:"updated_at"`
}

// DeadChunks is how many chunks were dead-lettered.
func (p Progress) DeadChunks() int {
	dead := 0
	for _, n := range p.Dead {
		dead += n
	}
	return dead
}

// add takes over what another part of the whole says.
func (p *Progress) add(o Progress) {
	p.Chunks, p.Done, p.Partial, p.Waiting = p.Chunks+o.Chunks, p.Done+o.Done, p.Partial+o.Partial, p.Waiting+o.Waiting
	for kind, n := range o.Dead {
		p.Dead[kind] += n
	}
	p.Usage, p.UsageIncomplete = p.Usage.Plus(o.Usage), p.UsageIncomplete+o.UsageIncomplete
	p.UpdatedAt = later(p.UpdatedAt, o.UpdatedAt)
}

// StatusFilter chooses documents; the zero value is all of the tenant's.
type StatusFilter struct {
	Documents []string
	// Run is what they were published in, see [wire.RunDocument]; "" is any run, or,
	// of Documents, none.
	Run string
}

// ids are those of Documents, in their run.
func (f StatusFilter) ids() []string {
	ids := make([]string, 0, len(f.Documents))
	for _, document := range f.Documents {
		ids = append(ids, wire.RunDocument(document, f.Run))
	}
	return ids
}

func (f StatusFilter) takes(id string) bool {
	if len(f.Documents) > 0 {
		return slices.Contains(f.ids(), id)
	}
	_, run := wire.SplitRun(id)
	return f.Run == "" || run == f.Run
}

// Status reads how far documents are, all of the tenant's for none. A document
// that was published again counts in its newest version. It reads all of the
// results, and keeps some hundred bytes per document and dead letter of them.
func (r *Reader) Status(ctx context.Context, documents ...string) (Status, error) {
	return r.StatusOf(ctx, StatusFilter{Documents: documents})
}

// StatusOf is [Reader.Status] of what the filter chooses.
func (r *Reader) StatusOf(ctx context.Context, filter StatusFilter) (Status, error) {
	status, byID, err := r.beginStatus(ctx, filter)
	if err != nil {
		return Status{}, err
	}
	for result, err := range r.results(ctx, filter.ids(), 0) {
		if err != nil {
			return Status{}, err
		}
		if filter.takes(result.value.DocumentID) {
			byID.of(result.value.DocumentID).addResult(fateOf(result))
		}
	}
	status.sum(byID)
	return status, nil
}

// beginStatus reads what waits and what was set aside. What is settled meanwhile is in
// the results, which are read after it, and so not missed.
func (r *Reader) beginStatus(ctx context.Context, filter StatusFilter) (Status, tallies, error) {
	status, byID := Status{Tenant: r.tenant, Documents: []DocumentStatus{}, Total: Progress{Dead: map[string]int{}}, Unreadable: map[string]int{}}, tallies{}
	var err error
	if status.WaitingChunks, err = r.waiting(ctx, r.names.ChunkStream(), r.names.ChunkSubject(r.tenant)); err != nil {
		return Status{}, nil, err
	}
	status.WaitingDocuments, err = r.waiting(ctx, r.names.DocumentStream(), r.names.DocumentSubject(r.tenant))
	if err != nil {
		return Status{}, nil, err
	}
	for letter, err := range r.deadLetters(ctx, 0) {
		if err != nil {
			return Status{}, nil, err
		}
		switch id := letter.value.DocumentID; {
		case id == "":
			status.Unreadable[letter.value.Kind]++
		case filter.takes(id):
			byID.of(id).addDead(letter)
		}
	}
	return status, byID, nil
}

// tallies are by document.
type tallies map[string]*tally

func (all tallies) of(document string) *tally {
	if all[document] == nil {
		all[document] = newTally()
	}
	return all[document]
}

// sum takes over what came of each document.
func (s *Status) sum(byID tallies) {
	for id, t := range byID {
		document := DocumentStatus{id, t.progress(s.WaitingChunks)}
		s.Documents = append(s.Documents, document)
		s.Total.add(document.Progress)
	}
	slices.SortFunc(s.Documents, func(a, b DocumentStatus) int { return cmp.Compare(a.DocumentID, b.DocumentID) })
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
