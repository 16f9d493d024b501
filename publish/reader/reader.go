package reader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const (
	// maxUnpacked bounds what is unpacked from one file, in bytes, and maxText
	// the text that it may have.
	maxUnpacked = 256 << 20
	maxText     = 64 << 20
	// maxTime bounds the reading of one file. A thousand dense pages of a PDF take most
	// of a minute of a core, and the machine may have something else to do.
	maxTime = 10 * time.Minute
)

// Text is what a file says.
type Text struct {
	Title string // as the file gives it, may be empty
	Text  string // clean UTF-8, not blank
	Marks []extraction.Mark
	// Origin says where in the file the text stands: in that of a page; in a container it
	// stands nowhere.
	Origin extraction.Origin
	// Note is what somebody should know about a text that could be read: what is
	// missing in it.
	Note string
}

// Reader reads files. It is safe for concurrent use; Close gives back what reading
// PDF files took.
type Reader struct {
	pdf      pdfEngine
	unpacked int64
	timeout  time.Duration
}

// New returns a reader. It does nothing until a file is read.
func New() *Reader { return &Reader{unpacked: maxUnpacked, timeout: maxTime} }

// Close ends the reader. It must not be reading.
func (r *Reader) Close() error { return r.pdf.close() }

// Endings lists the endings of file names that the reader knows.
func Endings() []string { return []string{".docx", ".epub", ".htm", ".html", ".pdf", ".xhtml"} }

// Read extracts the text of a file with the given ending (".pdf", in lower case).
// The error is an [*Error], or that of ctx.
func (r *Reader) Read(ctx context.Context, ending string, content []byte) (text Text, err error) {
	if len(content) == 0 {
		return Text{}, &Error{Kind: KindEmpty, Reason: "empty: there is nothing in it"}
	}
	if ending == ".pdf" && isPDF(content) { // what it takes to start is not the file's
		if _, err := r.pdf.start(); err != nil {
			return Text{}, err
		}
	}
	timed, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			text, err = Text{}, broken(fmt.Sprintf("the reader of %s files gave up on it (%.100v)", ending, cause), nil)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case timed.Err() != nil:
			err = &Error{Kind: KindTimeout, Reason: fmt.Sprintf("takes longer than %v to read", r.timeout), Err: err}
		}
	}()
	text, err = r.read(timed, ending, content)
	if err != nil {
		return Text{}, err
	}
	if text.Origin == nil {
		text.Origin = extraction.NoOrigin{}
	}
	return checked(text)
}

func (r *Reader) read(ctx context.Context, ending string, content []byte) (Text, error) {
	switch ending {
	case ".html", ".htm", ".xhtml":
		return readHTML(content)
	case ".docx":
		return r.readWord(ctx, content)
	case ".epub":
		return r.readEPUB(ctx, content)
	case ".pdf":
		return r.readPDF(ctx, content)
	}
	return Text{}, &Error{Kind: KindUnreadable, Reason: fmt.Sprintf("cannot read %s files", ending)}
}

// checked is the last look at what a reader made.
func checked(text Text) (Text, error) {
	err := extraction.CheckText(text.Text)
	if invalid, ok := errors.AsType[*extraction.InvalidTextError](err); ok {
		return Text{}, broken("its text has "+invalid.Reason, err)
	}
	if err != nil {
		return Text{}, &Error{Kind: KindNoText, Reason: "there is no text in it", Err: err}
	}
	return text, nil
}
