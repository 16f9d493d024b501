package statuspage

import "time"

// maxLetters is how many of the newest dead letters are shown.
const maxLetters = 10

// Letter is a dead letter, without its text.
type Letter struct {
	Letter   uint64    `json:"letter"` // its number, as worker dead has it
	Tenant   string    `json:"tenant"`
	Kind     string    `json:"kind"`
	Error    string    `json:"error"`
	FailedAt time.Time `json:"failed_at"`
	Document string    `json:"document,omitempty"`
	Chunk    *int      `json:"chunk,omitempty"` // index in the document, nil if it was no chunk
}

type lettersAnswer struct {
	At      time.Time `json:"at"`
	Letters []Letter  `json:"letters"` // newest first
}
