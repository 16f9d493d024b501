package extraction

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Kind says what went wrong with a model call, and with it what the caller can
// do. The kinds that end in a dead letter have the dead letter's names.
type Kind string

const (
	// The model answered; asking again would bring the same answer.

	KindMalformed      Kind = "malformed"        // not the JSON that was asked for
	KindEmpty          Kind = "empty"            // no content at all: look at the prompt
	KindTruncated      Kind = "truncated"        // finish_reason length: a bigger budget or a smaller chunk
	KindRefused        Kind = "refused"          // a refusal or a content filter: permanent for this content
	KindContextTooLong Kind = "context_too_long" // the prompt does not fit the model
	KindInvalidRequest Kind = "invalid_request"  // any other 4xx: the request or the set-up is wrong

	// The model did not answer; another time it may.

	KindUnavailable Kind = "unavailable"  // transport, timeout, 5xx, an HTML or error body with status 200
	KindRateLimited Kind = "rate_limited" // 429: slow down, see RetryAfter

	// The server will not answer anybody with these credentials.

	KindAuth  Kind = "auth"  // 401, 403
	KindQuota Kind = "quota" // the account's quota is used up
)

// ProviderError is the one error family of model calls. Test for a kind with
// errors.Is and one of the sentinels, or read Kind with errors.As.
type ProviderError struct {
	Kind         Kind
	Status       int           // HTTP status, 0 if there was none
	RetryAfter   time.Duration // what the server asked for, 0 if it did not
	FinishReason string        // what the model reported, if anything
	Schema       string        // name of the schema that the content failed, for KindMalformed
	Usage        Usage         // what the call used, as far as the server said with an answer that is none
	Detail       string        // bounded, free of secrets and of document text
	Err          error         // cause, may be nil
}

// Sentinels for errors.Is: each matches any [ProviderError] of its kind.
var (
	ErrMalformed      = &ProviderError{Kind: KindMalformed}
	ErrEmpty          = &ProviderError{Kind: KindEmpty}
	ErrTruncated      = &ProviderError{Kind: KindTruncated}
	ErrRefused        = &ProviderError{Kind: KindRefused}
	ErrContextTooLong = &ProviderError{Kind: KindContextTooLong}
	ErrInvalidRequest = &ProviderError{Kind: KindInvalidRequest}
	ErrUnavailable    = &ProviderError{Kind: KindUnavailable}
	ErrRateLimited    = &ProviderError{Kind: KindRateLimited}
	ErrAuth           = &ProviderError{Kind: KindAuth}
	ErrQuota          = &ProviderError{Kind: KindQuota}
)

func (e *ProviderError) Error() string {
	msg := "model call failed: " + string(e.Kind)
	if e.Status != 0 {
		msg += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.FinishReason != "" {
		msg += " (finish_reason " + e.FinishReason + ")"
	}
	if e.Schema != "" {
		msg += " (schema " + e.Schema + ")"
	}
	if e.Detail != "" {
		msg += ": " + e.Detail
	}
	return msg
}

// UsageOf is what the call used that ended with err: zero if the model did not answer,
// and marked as unreported if it did and its server did not say.
func UsageOf(err error) Usage {
	failed, ok := errors.AsType[*ProviderError](err)
	if !ok {
		return Usage{}
	}
	switch failed.Kind {
	case KindMalformed, KindEmpty, KindTruncated, KindRefused:
		if failed.Status == 0 || failed.Status == http.StatusOK {
			return failed.Usage.ofOneCall()
		}
	}
	return failed.Usage
}

func (e *ProviderError) Unwrap() error { return e.Err }

// Is reports whether target is a ProviderError of the same kind.
func (e *ProviderError) Is(target error) bool {
	t, ok := target.(*ProviderError)
	return ok && t.Kind == e.Kind
}

// BlankTextError is returned, before any model is asked, for a chunk without
// any visible character: a mistake of the caller.
type BlankTextError struct{}

func (BlankTextError) Error() string { return "text is blank" }

// Reasons of an [InvalidTextError].
const (
	ReasonInvalidUTF8 = "invalid UTF-8"
	ReasonNUL         = "NUL character"
)

// InvalidTextError is returned, before any model is asked, for a text that is
// not clean UTF-8: every offset of the result would be wrong.
type InvalidTextError struct {
	Offset int    // byte at which the text goes wrong
	Reason string // [ReasonInvalidUTF8] or [ReasonNUL]
}

func (e *InvalidTextError) Error() string {
	return fmt.Sprintf("text has %s at byte %d", e.Reason, e.Offset)
}

// ArgumentError is returned by constructors: which argument is wrong and why.
type ArgumentError struct {
	Argument string
	Reason   string
}

func (e *ArgumentError) Error() string { return e.Argument + " " + e.Reason }
