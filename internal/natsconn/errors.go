package natsconn

import "fmt"

// ConnectError says that no connection came about. URL has its credentials
// blotted out.
type ConnectError struct {
	URL string
	Err error
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("no connection to NATS at %s: %v", e.URL, e.Err)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// OptionError names an option that cannot be used.
type OptionError struct {
	Option  string
	Problem string
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Problem }

// RefusedError says that the server does not accept who this is, and what may be
// wrong with it. Other credentials cure it, or other users of the server.
type RefusedError struct {
	Problem string
	Err     error
}

func (e *RefusedError) Error() string { return e.Problem + " (" + e.Err.Error() + ")" }
func (e *RefusedError) Unwrap() error { return e.Err }

// TLSError says what the two sides do not agree on. Other files or another URL
// cure it, or another certificate of the server.
type TLSError struct {
	Problem string
	Err     error
}

func (e *TLSError) Error() string { return e.Problem + " (" + e.Err.Error() + ")" }
func (e *TLSError) Unwrap() error { return e.Err }
