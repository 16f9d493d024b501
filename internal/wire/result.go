package wire

import (
	"encoding/json"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// SchemaVersion is the version of [Result] that is written and read.
const SchemaVersion = 1

// Result is what one chunk yielded, with its provenance.
type Result struct {
	SchemaVersion int    `json:"schema_version"`
	TenantID      string `json:"tenant_id"`
	DocumentID    string `json:"document_id"`
	ChunkID       string `json:"chunk_id"`
	Index         int    `json:"index"`
	Total         int    `json:"total"`
	Title         string `json:"title,omitempty"` // the chunk's
	URI           string `json:"uri,omitempty"`
	ByteStart     int    `json:"byte_start,omitempty"` // the chunk's range in the document
	ByteEnd       int    `json:"byte_end,omitempty"`   // 0 if it was not given
	// Metadata is the chunk's, such as the page that it begins on.
	Metadata map[string]string `json:"metadata,omitempty"`

	extraction.Extraction

	Attempts   int       `json:"attempts"` // model calls that counted, this one included
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Worker     string    `json:"worker"`
}

// EncodeResult writes a result; times are in UTC and lists are never null.
func EncodeResult(r Result) ([]byte, error) {
	r.SchemaVersion = SchemaVersion
	r.StartedAt, r.FinishedAt = r.StartedAt.UTC(), r.FinishedAt.UTC()
	if r.Entities == nil {
		r.Entities = []extraction.Entity{}
	}
	if r.Relationships == nil {
		r.Relationships = []extraction.Relationship{}
	}
	return encodeJSON(r)
}

// DecodeResult reads a result. The error is an [*InvalidMessageError].
func DecodeResult(body []byte) (Result, error) {
	var r Result
	if err := json.Unmarshal(body, &r); err != nil {
		return Result{}, invalid("body is not a result: %s", JSONProblem(err))
	}
	switch {
	case r.SchemaVersion != SchemaVersion:
		return Result{}, invalid("schema_version is %d, want %d", r.SchemaVersion, SchemaVersion)
	case r.ChunkID == "":
		return Result{}, invalid("chunk_id is missing")
	case r.Index < 0:
		return Result{}, invalid("index %d is negative", r.Index)
	}
	return r, nil
}
