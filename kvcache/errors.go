package kvcache

import "errors"

var (
	// ErrNotNumber: Increment met a value that is not a decimal number. The
	// value is unchanged; delete or set the key to go on.
	ErrNotNumber = errors.New("kvcache: value is not a decimal number")

	// ErrInvalidTTL: a ttl was negative, or a hit was recorded without one.
	ErrInvalidTTL = errors.New("kvcache: invalid ttl")

	// ErrDuplicateKey: one swap named a key twice. Nothing was written.
	ErrDuplicateKey = errors.New("kvcache: key named twice in one swap")

	// ErrClosed: the cache has been closed.
	ErrClosed = errors.New("kvcache: closed")

	// ErrUnavailable: the store could not be reached or did not answer in time.
	// It says nothing about the call that the caller wanted to protect; whether
	// a write took place is unknown.
	ErrUnavailable = errors.New("kvcache: store unavailable")
)
