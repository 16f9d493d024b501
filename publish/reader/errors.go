package reader

// Kind says why a file cannot be read, and with it what can be done.
type Kind string

const (
	KindEmpty      Kind = "empty"      // there is nothing in it
	KindNoText     Kind = "no_text"    // pictures of text, or none: needs OCR
	KindEncrypted  Kind = "encrypted"  // a password or rights management
	KindBroken     Kind = "broken"     // cut off, damaged, or against its format
	KindTooLarge   Kind = "too_large"  // larger than the bounds, packed or unpacked
	KindMislabeled Kind = "mislabeled" // something else than its name says
	KindCharset    Kind = "charset"    // in a character set that is unknown or not the one it names
	KindTimeout    Kind = "timeout"    // took longer than it may
	KindUnreadable Kind = "unreadable" // the reader for it cannot work here
)

// Error is a file that cannot be read. Test for a kind with errors.Is and one of
// the sentinels.
type Error struct {
	Kind   Kind
	Reason string // for people: what is wrong and what to do
	Err    error  // cause, may be nil
}

// Sentinels for errors.Is: each matches any [Error] of its kind.
var (
	ErrEmpty      = &Error{Kind: KindEmpty}
	ErrNoText     = &Error{Kind: KindNoText}
	ErrEncrypted  = &Error{Kind: KindEncrypted}
	ErrBroken     = &Error{Kind: KindBroken}
	ErrTooLarge   = &Error{Kind: KindTooLarge}
	ErrMislabeled = &Error{Kind: KindMislabeled}
	ErrCharset    = &Error{Kind: KindCharset}
	ErrTimeout    = &Error{Kind: KindTimeout}
	ErrUnreadable = &Error{Kind: KindUnreadable}
)

func (e *Error) Error() string {
	if e.Reason == "" {
		return string(e.Kind)
	}
	return e.Reason
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an Error of the same kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind
}

func broken(reason string, err error) *Error {
	return &Error{Kind: KindBroken, Reason: "broken: " + reason, Err: err}
}
