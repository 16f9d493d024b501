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

	// ErrInvalidAsk: a question to a [Ledger] had a window, a quota or a cost
	// that means nothing.
	ErrInvalidAsk = errors.New("kvcache: invalid question to a ledger")

	// ErrExceedsQuota: a request costs more tokens than its whole window may
	// hold. It can never be admitted; waiting does not help.
	ErrExceedsQuota = errors.New("kvcache: request exceeds the quota of a whole window")

	// ErrClosed: the cache has been closed.
	ErrClosed = errors.New("kvcache: closed")

	// ErrUnavailable: the store could not be reached or did not answer in time.
	// It says nothing about the call that the caller wanted to protect; whether
	// a write took place is unknown.
	ErrUnavailable = errors.New("kvcache: store unavailable")
)
