package domains

import "fmt"

// Error says what is wrong in a domain file and where.
type Error struct {
	File   string
	Line   int    // counted from 1; 0 if it is the file as a whole
	Field  string // such as domains.news.relationships.works_for.from; empty if it is none
	Reason string
}

func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Field != "" {
		place += ": " + e.Field
	}
	return place + ": " + e.Reason
}
