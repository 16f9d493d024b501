package wire

import (
	"strings"
)

// runMark stands between a document's id and the name of a run.
const runMark = "@run="

// maxRunBytes bounds the name of a run.
const maxRunBytes = 64

// CheckRun returns a [*TokenError] for what is no name of a run: 1 to 64 letters,
// digits, - and _.
func CheckRun(run string) error {
	if len(run) > maxRunBytes || !isPlain(run) {
		return &TokenError{run, "want 1 to 64 letters, digits, - and _"}
	}
	return nil
}

// RunDocument is the id that a document has in a run: "" is what documents are
// published in otherwise, and leaves the id as it is.
func RunDocument(document, run string) string {
	if run == "" {
		return document
	}
	return document + runMark + run
}

// SplitRun takes apart what [RunDocument] has put together.
func SplitRun(id string) (document, run string) {
	if i := strings.LastIndex(id, runMark); i > 0 && CheckRun(id[i+len(runMark):]) == nil {
		return id[:i], id[i+len(runMark):]
	}
	return id, ""
}
