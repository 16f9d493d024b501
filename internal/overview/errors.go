package overview

import "fmt"

// ConfigError names the field of [Config] that means nothing.
type ConfigError struct {
	Field   string
	Problem string
}

func (e *ConfigError) Error() string { return fmt.Sprintf("overview: %s %s", e.Field, e.Problem) }

// ReadError says what of the fleet could not be read; the cause is NATS's.
type ReadError struct {
	What string // "stream WEIR_CHUNKS"
	Err  error
}

func (e *ReadError) Error() string { return fmt.Sprintf("read %s: %v", e.What, e.Err) }

func (e *ReadError) Unwrap() error { return e.Err }
