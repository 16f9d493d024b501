package publish

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// DefaultMaxPayload is what a NATS server takes in one message unless it is
// configured otherwise, in bytes.
const DefaultMaxPayload = 1 << 20

// PlanConfig says how documents become messages.
type PlanConfig struct {
	Names    wire.Names
	Tenant   string               // required
	Splitter *extraction.Splitter // required
	// DocumentID is the id of the one document. Defaults to the document's own
	// id, or to one made of its text.
	DocumentID string
	// Run, if it is set, keeps the results apart from those of other runs over the
	// same documents. It becomes a part of their ids: letters, digits, - and _.
	Run string
	// MaxPayload is what the server takes in one message, in bytes. Defaults to
	// DefaultMaxPayload.
	MaxPayload int64
	// OnRead, if it is set, is told after each source how many were read.
	OnRead func(sources int)
}

// Plan is what a publication will send: every document has been read and
// checked.
type Plan struct {
	Documents []PlannedDocument
	Chunks    int
	// Refused are the files of folders that were left out, each with the reason.
	Refused []*InputError
	// Notes are what is missing in documents that are sent, as "SOURCE: NOTE".
	Notes []string
	// Same are the documents that have id and text of another, and are sent once. There is
	// a note of each.
	Same int

	config  PlanConfig
	sources []Source
	byID    map[string]PlannedDocument
}

// PlannedDocument is one document of a [Plan].
type PlannedDocument struct {
	ID     string `json:"document_id"`
	Title  string `json:"title,omitempty"`
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"` // of a .jsonl file
	Bytes  int    `json:"bytes"`
	Chunks int    `json:"chunks"`

	sha256 string
}

// NewPlan reads and checks all sources and sends nothing. If there is anything
// wrong with any that was named the error joins an [*InputError] for each; a file is
// read only up to its first mistake. Those that were found in folders are left out
// instead: see Refused.
func NewPlan(config PlanConfig, sources []Source) (*Plan, error) {
	switch {
	case config.Tenant == "":
		return nil, &ConfigError{"tenant", "must not be empty"}
	case len(config.Tenant) > wire.MaxIDBytes:
		return nil, &ConfigError{"tenant", fmt.Sprintf("is longer than %d bytes", wire.MaxIDBytes)}
	case config.Splitter == nil:
		return nil, &ConfigError{"splitter", "is required"}
	case config.MaxPayload < 0:
		return nil, &ConfigError{"max payload", "must not be negative"}
	case config.MaxPayload == 0:
		config.MaxPayload = DefaultMaxPayload
	}
	if config.Run != "" && wire.CheckRun(config.Run) != nil {
		return nil, &ConfigError{"run", "must be 1 to 64 letters, digits, - and _"}
	}
	if extraction.CheckText(config.Tenant) != nil {
		return nil, &ConfigError{"tenant", "must be visible UTF-8 text"}
	}
	plan := &Plan{config: config, byID: map[string]PlannedDocument{}}
	var refusals []error
	for i, source := range sources {
		err := plan.add(source)
		input, refused := errors.AsType[*InputError](err)
		switch {
		case err == nil:
			plan.sources = append(plan.sources, source)
		case !refused:
			return nil, err
		case source.found:
			plan.Refused = append(plan.Refused, input)
		default:
			refusals = append(refusals, err)
		}
		if config.OnRead != nil {
			config.OnRead(i + 1)
		}
	}
	if len(refusals) > 0 {
		return nil, errors.Join(refusals...)
	}
	if config.DocumentID != "" && len(plan.Documents) > 1 {
		return nil, &ConfigError{"document id", fmt.Sprintf("cannot name %d documents: give it with a single one", len(plan.Documents))}
	}
	return plan, nil
}

// Names are those that the plan was made for.
func (p *Plan) Names() wire.Names { return p.config.Names }

// add takes all documents of a source into the plan, or none.
func (p *Plan) add(source Source) error {
	added := map[string]PlannedDocument{}
	var documents []PlannedDocument
	var notes, same []string
	for item, err := range source.Documents() {
		if err != nil {
			return err
		}
		_, planned, err := p.prepare(item)
		if err != nil {
			return err
		}
		if item.Note != "" {
			notes = append(notes, item.Source+": "+item.Note)
		}
		earlier, twice := p.byID[planned.ID]
		if !twice {
			earlier, twice = added[planned.ID]
		}
		if twice {
			if earlier.sha256 != planned.sha256 {
				return &InputError{Source: item.Source, Line: item.Line, Offset: -1,
					Reason: fmt.Sprintf("document id %q is taken by another text in %s", planned.ID, place(earlier))}
			}
			same = append(same, fmt.Sprintf("%s: same text as %s, sent once", place(PlannedDocument{Source: item.Source, Line: item.Line}), place(earlier)))
			continue
		}
		added[planned.ID] = planned
		documents = append(documents, planned)
	}
	for _, planned := range documents {
		p.byID[planned.ID] = planned
		p.Chunks += planned.Chunks
	}
	p.Documents = append(p.Documents, documents...)
	p.Notes = append(p.Notes, append(notes, same...)...)
	p.Same += len(same)
	return nil
}

func place(d PlannedDocument) string {
	if d.Line > 0 {
		return fmt.Sprintf("%s:%d", d.Source, d.Line)
	}
	return d.Source
}

// message is one chunk, ready to be sent.
type message struct {
	chunk extraction.Chunk
	msg   *nats.Msg
}

// prepare makes the messages of one document.
func (p *Plan) prepare(item Item) ([]message, PlannedDocument, error) {
	refuse := func(offset int, reason string, cause error) ([]message, PlannedDocument, error) {
		at := int64(offset)
		if item.Line > 0 {
			at = -1 // the offset counts in the text, not in the file
		}
		return nil, PlannedDocument{}, &InputError{Source: item.Source, Line: item.Line, Offset: at, Reason: reason, Err: cause}
	}
	doc := item.Document
	if p.config.DocumentID != "" {
		doc.ID = p.config.DocumentID
	}
	if doc.ID == "" {
		doc.ID = extraction.DocumentID(doc.Text)
	}
	doc.ID = wire.RunDocument(doc.ID, p.config.Run)
	chunks, err := p.config.Splitter.Split(doc)
	if err != nil {
		return refuse(-1, err.Error(), err)
	}
	messages := make([]message, 0, len(chunks))
	for _, chunk := range chunks {
		at := chunk.ByteStart
		if chunk.ByteEnd == 0 {
			at = -1 // nowhere in the file
		}
		body, err := wire.EncodeChunk(chunk)
		if err != nil {
			return refuse(at, err.Error(), err)
		}
		msg, err := p.config.Names.NewChunkMessage(p.config.Tenant, chunk.ChunkID, body, p.config.MaxPayload)
		if err != nil {
			return refuse(at, fmt.Sprintf("chunk %d: %v: use a smaller chunk size or less metadata", chunk.Index, err), err)
		}
		messages = append(messages, message{chunk, msg})
	}
	first := chunks[0]
	return messages, PlannedDocument{
		ID: first.DocumentID, Title: doc.Title, Source: item.Source, Line: item.Line,
		Bytes: len(doc.Text), Chunks: len(chunks), sha256: first.DocumentSHA256,
	}, nil
}
