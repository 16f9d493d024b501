package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// InvalidMessageError says why a message is not what its subject promises. The
// same bytes will never become valid: set them aside, do not retry.
type InvalidMessageError struct {
	Reason string // free of document text
}

func (e *InvalidMessageError) Error() string { return "invalid message: " + e.Reason }

func invalid(format string, args ...any) error {
	return &InvalidMessageError{Reason: fmt.Sprintf(format, args...)}
}

// NamespaceError rejects a namespace that cannot be part of a stream's name.
type NamespaceError struct {
	Namespace string
}

func (e *NamespaceError) Error() string {
	return fmt.Sprintf("namespace %q: want 1 to 32 letters, digits, '-' or '_', beginning with a letter or digit", e.Namespace)
}

// TokenError rejects a subject, or one token of it, that no encoder writes.
type TokenError struct {
	Token  string
	Reason string
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("subject token %q: %s", clip(e.Token, 64), e.Reason)
}

// MismatchError names a setting of an existing stream, bucket or
// consumer that Weirkeeper cannot live with. It is never changed behind its
// owner's back: change or remove the object, or use another namespace. Where several
// settings of a stream are wrong the error names them all, and [errors.As] finds the
// first.
type MismatchError struct {
	Object string // "stream WEIR_CHUNKS"
	Field  string // "retention"
	Want   string
	Have   string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: %s; change it, or use another --namespace", e.Object, e.setting())
}

func (e *MismatchError) setting() string {
	return fmt.Sprintf("%s is %s, want %s", e.Field, e.Have, e.Want)
}

// mismatches are several of one object.
type mismatches []*MismatchError

func (m mismatches) Error() string {
	settings := make([]string, len(m))
	for i, e := range m {
		settings[i] = e.setting()
	}
	return fmt.Sprintf("%s: %s; change that, or use another --namespace", m[0].Object, strings.Join(settings, "; "))
}

func (m mismatches) Unwrap() []error {
	all := make([]error, len(m))
	for i, e := range m {
		all[i] = e
	}
	return all
}

// AccessError says which request to JetStream was not answered, not allowed or
// refused, and the publish permission that the request needs.
type AccessError struct {
	Object string // "stream WEIR_CHUNKS"
	Right  string // subject that the client must be allowed to publish to
	Err    error
}

func (e *AccessError) Error() string {
	if refused, ok := errors.AsType[*jetstream.APIError](e.Err); ok { // so it was allowed to ask
		return fmt.Sprintf("%s: the server refuses: %s (JetStream error %d)", e.Object, refused.Description, refused.ErrorCode)
	}
	if errors.Is(e.Err, nats.ErrNoResponders) { // a right that is missing would be met with silence
		return fmt.Sprintf("%s: the server, or this user's account on it, has no JetStream (%v)", e.Object, e.Err)
	}
	return fmt.Sprintf("%s: request failed: %v (needs JetStream, and permission to publish to %s and to subscribe to its own inbox)", e.Object, e.Err, e.Right)
}

func (e *AccessError) Unwrap() error { return e.Err }

// TooLargeError says that a message cannot pass the server.
type TooLargeError struct {
	Size  int64 // bytes, body and headers
	Limit int64 // bytes that would have been accepted
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("message of %d bytes with headers is larger than the %d that the server's max_payload leaves", e.Size, e.Limit)
}
