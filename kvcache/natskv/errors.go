package natskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// MismatchError says that a bucket or stream exists and is not fit for its use.
// It is never changed by force: change the field by hand or choose another
// bucket.
type MismatchError struct {
	Stream string // the stream's name, KV_<bucket> for a bucket
	Field  string // as `nats stream info --json` names it
	Have   string // what it is
	Need   string // what it has to be
	Err    error  // why the server refused to change it, if it was asked
}

func (e *MismatchError) Error() string {
	text := fmt.Sprintf("natskv: stream %s: %s is %s, but has to be %s", e.Stream, e.Field, e.Have, e.Need)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *MismatchError) Unwrap() error { return e.Err }

// These do not leave the package, but for errNoAnswer within an unavailable one.
var (
	// errLost: the key has changed since it was read.
	errLost = errors.New("natskv: the key has changed")
	// errGap: a message was lost on its way to a watch.
	errGap = errors.New("natskv: the watch has missed something")
	// errNoAnswer is the cause that ends an operation after its timeout.
	errNoAnswer = errors.New("natskv: no answer in time")
)

// unavailable marks an error of the store.
func unavailable(err error) error { return fmt.Errorf("%w: %w", kvcache.ErrUnavailable, err) }

// failed says what the error of a request means to the caller.
func failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("natskv: the value is too large: %w", err)
	case ctx.Err() != nil:
		return ended(ctx)
	}
	return unavailable(err)
}

// ended says what the end of an operation's context means to the caller: that the
// store took too long, by our own limit or by the caller's context. The latter's error
// says so whatever cause it was given: nobody would know that cause for an end of it.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errNoAnswer) {
		return unavailable(cause)
	}
	return unavailable(ctx.Err())
}

// busy is the code of an answer that may be another one a moment later.
const busy = 503

// refusal tells a server that says no from one that says nothing, in time.
func refusal(ctx context.Context, err error) error {
	refused := new(jetstream.APIError)
	switch {
	case errors.As(err, &refused) && refused.Code != busy:
		return err
	case ctx.Err() != nil:
		return ended(ctx)
	}
	return unavailable(err)
}

// notLost is for writes that expect nothing: a clash with one that does is none
// of the caller's business.
func notLost(err error) error {
	if errors.Is(err, errLost) {
		return unavailable(err)
	}
	return err
}
