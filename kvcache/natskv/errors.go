package natskv

import (
	"errors"
	"fmt"
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

// errLost: the key has changed since it was read. It does not leave the package.
var errLost = errors.New("natskv: the key has changed")
