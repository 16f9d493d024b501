package extraction

// Document is one text before it is split.
type Document struct {
	ID       string            `json:"document_id,omitempty"` // default: see [DocumentID]
	Title    string            `json:"title,omitempty"`
	URI      string            `json:"uri,omitempty"`
	Domain   string            `json:"domain,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Text     string            `json:"text"`
	// Marks, in the order of their offsets, say where in the source the text
	// stands. [Splitter.Split] puts them into the metadata of the chunks.
	Marks []Mark `json:"-"`
	// Origin, if the text was extracted, says where it stands in the document's own
	// bytes. nil: the text is the document.
	Origin Origin `json:"-"`
}

// Chunk is one piece of a document: the unit of work. Only Text is required.
type Chunk struct {
	DocumentID     string            `json:"document_id,omitempty"`
	Index          int               `json:"index"`
	Total          int               `json:"total,omitempty"`
	Text           string            `json:"text"`
	ChunkID        string            `json:"chunk_id,omitempty"`
	DocumentSHA256 string            `json:"document_sha256,omitempty"`
	ByteStart      int               `json:"byte_start"`         // half-open range in the document's own bytes,
	ByteEnd        int               `json:"byte_end,omitempty"` // 0 if it is not known
	Title          string            `json:"title,omitempty"`
	URI            string            `json:"uri,omitempty"`
	Domain         string            `json:"domain,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

// Evidence is a quote that stands in the chunk's text:
// text[ByteStart:ByteEnd] == Quote.
type Evidence struct {
	Quote     string `json:"quote"`
	ByteStart int    `json:"byte_start"`
	ByteEnd   int    `json:"byte_end"`
}

// Entity is one thing that the text speaks of. The same tenant, normalised name
// and type give the same ID in every chunk and run.
type Entity struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"`
	Description string    `json:"description"`
	Confidence  *float64  `json:"confidence"` // 0..1, null if the model gave none
	Evidence    *Evidence `json:"evidence"`   // null if the quote is not in the text
}

// Relationship is one directed statement about two entities of the same chunk.
type Relationship struct {
	ID          string    `json:"id"`
	SourceID    string    `json:"source_id"`
	TargetID    string    `json:"target_id"`
	Type        string    `json:"type"`
	Description string    `json:"description"`
	Confidence  *float64  `json:"confidence"`
	Evidence    *Evidence `json:"evidence"`
}

// Counters says what did not make it into the result as the model wrote it:
// nothing is repaired or dropped in silence.
type Counters struct {
	Dropped    int `json:"dropped"`              // rows without a usable name, type or shape
	Unresolved int `json:"unresolved"`           // relationships with an endpoint that is not listed
	SelfLoops  int `json:"self_loops"`           // relationships of an entity with itself
	Ungrounded int `json:"ungrounded"`           // facts whose quote is not in the text
	Clipped    int `json:"clipped"`              // names, types, descriptions and quotes cut to their bound
	Repaired   int `json:"repaired,omitempty"`   // departures from the form asked for that were put right, see [Parse]
	OffSchema  int `json:"off_schema,omitempty"` // facts of types that the domain does not name, kept or, if it is strict, dropped
}

// Status of an extraction.
const (
	StatusOK      = "ok"      // every row of the answer could be read
	StatusPartial = "partial" // rows of the answer were unusable and dropped
)

// DomainChoice says which domain the chunk was read with, and why.
type DomainChoice struct {
	ID             string   `json:"id"`
	Confidence     *float64 `json:"confidence"`      // the classifier's; null if it did not choose
	FallbackReason string   `json:"fallback_reason"` // why it is not the publisher's or the classifier's choice
}

// Extraction is what one chunk yielded, with its provenance.
type Extraction struct {
	Status        string         `json:"status"`
	Model         string         `json:"model"`
	PromptVersion string         `json:"prompt_version"`
	OutputMode    string         `json:"output_mode"`
	FinishReason  string         `json:"finish_reason"`
	Usage         Usage          `json:"usage"`
	Domain        DomainChoice   `json:"domain"`
	Gleaning      *Gleaning      `json:"gleaning,omitempty"`     // nil without [WithGleaning]
	CarriedOver   *CarriedOver   `json:"carried_over,omitempty"` // nil without [WithCarryOver]
	Entities      []Entity       `json:"entities"`
	Relationships []Relationship `json:"relationships"`
	Counters      Counters       `json:"counters"`
	Excerpts      []Excerpt      `json:"excerpts,omitempty"` // what stands around the evidence, see [Excerpts]
}
