package kvcache

import (
	"context"
	"time"
)

// KeepTTL as the TTL of a [Change] keeps the deadline that the key already has;
// a key that does not exist is created without one.
const KeepTTL time.Duration = -1

// Entry is one key as it was read.
type Entry struct {
	Key     string
	Value   string
	Present bool   // false: missing, deleted or expired
	Version uint64 // moves with every write to the key and when it expires; compare for equality only
}

// Change is one write that depends on what was read.
type Change struct {
	Key     string
	Version uint64 // the [Entry.Version] that this change was computed from
	Value   string
	Delete  bool          // remove the key instead of writing Value
	TTL     time.Duration // 0 keeps it until it is deleted; see also [KeepTTL]
}

// Versioned is an optional capability of a [KeyValue]: several keys change
// together, and only if none of them has changed since it was read. It is what
// makes a breaker's transitions exact when several processes race.
//
// A breaker over a cache without it works through [Unversioned], with the
// weaker guarantee that is written there.
type Versioned interface {
	// Load fills Value, Present and Version of each entry by its Key. Entries of
	// one call need not be one snapshot; Swap finds out.
	Load(ctx context.Context, entries []Entry) error

	// Swap applies all changes if every one of their keys still has the version
	// named in it, else none, and reports which. Afterwards each changed key has
	// a new version, written back to the changes. An error means that it is
	// unknown whether the swap took place.
	Swap(ctx context.Context, changes []Change) (swapped bool, err error)
}

// Quota says how much one window of a [Ledger] may hold.
type Quota struct {
	Window   time.Duration // span of the sliding window, positive
	Requests int64         // admissions per window; 0 is unlimited
	Tokens   int64         // tokens per window; 0 is unlimited
}

// Admission is the answer to one [Ledger.Admit].
type Admission struct {
	Admitted bool
	// RetryAfter is, for a refusal, how long from now until the same question
	// would be answered with yes if nobody else asked.
	RetryAfter time.Duration
	// ID names what was admitted, for [Ledger.Settle].
	ID string
}

// Standing is what a window holds at one instant, a snapshot.
type Standing struct {
	Requests   int64         // admissions in the window
	Tokens     int64         // tokens in the window
	RetryAfter time.Duration // 0 if one more request of no tokens would be admitted now
}

// Ledger is an optional capability of a cache: it admits to a sliding window in
// one atomic step, requests and tokens together or not at all, by the store's
// own clock, so that in ANY span of Window no more than the quota is admitted,
// whatever the number of processes and however wrong their clocks.
//
// A ledger, a value and a hit series may share a key.
type Ledger interface {
	// Admit takes one request and tokens from key's window, or nothing.
	Admit(ctx context.Context, key string, q Quota, tokens int64) (Admission, error)

	// Settle replaces the tokens of the admission id by what was really used,
	// more or less. An id that has left the window is not an error.
	Settle(ctx context.Context, key, id string, tokens int64) error

	// Cool refuses every admission to key for d from now. A cool-down is only
	// ever extended, never cut short.
	Cool(ctx context.Context, key string, d time.Duration) error

	// Peek reads the window without taking anything.
	Peek(ctx context.Context, key string, q Quota) (Standing, error)
}
