package kvcache

import (
	"context"
	"fmt"
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
	// Load fills Value, Present and Version of each entry by its Key, each as it
	// was at some instant of the call: a Load never shows less than an earlier
	// one of the same process has shown, of whichever keys. Entries of one call
	// need not be one snapshot; Swap finds out.
	Load(ctx context.Context, entries []Entry) error

	// Swap applies all changes if every one of their keys still has the version
	// named in it, else none, and reports which. Afterwards each changed key has
	// a new version, written back to the changes. An error means that it is
	// unknown whether the swap took place.
	Swap(ctx context.Context, changes []Change) (swapped bool, err error)
}

// Watcher is an optional capability of a [KeyValue]: it tells of changes as they
// happen, whoever makes them, so that nobody has to ask again and again.
type Watcher interface {
	// Watch tells changed what each of the keys holds now, be it nothing, and
	// from then on what it holds after each change, until ctx ends, whose error
	// it returns. A key that was deleted or has expired is told as not Present.
	// The Version is that of [Versioned], where the cache offers both.
	//
	// All that is told is a hint: values that follow each other quickly may be
	// skipped, and one may be told twice, but the newest is always told before
	// long, also after the store was out of reach or has lost everything.
	//
	// changed is called by the goroutine that called Watch and may use the
	// cache; what happens meanwhile is told afterwards. Another error than ctx's
	// means that nothing more is told: [ErrClosed], or [ErrUnavailable] if
	// watching could not begin or cannot go on. Watch again later.
	Watch(ctx context.Context, keys []string, changed func(Entry)) error
}

// Quota says how much one window of a [Ledger] may hold.
type Quota struct {
	Window   time.Duration // span of the sliding window, positive, at most [MaxWindow]
	Requests int64         // admissions per window; 0 is unlimited
	Tokens   int64         // tokens per window; 0 is unlimited
}

const (
	// MaxWindow is the widest window, and the longest cool-down, of a [Ledger].
	MaxWindow = 31 * 24 * time.Hour

	// MaxTokens is the most that one request may cost.
	MaxTokens = 1 << 40
)

// Ask is one question to a [Ledger].
type Ask struct {
	Quota  Quota
	Tokens int64 // what the request costs, or is estimated to cost; at most Quota.Tokens where that is limited

	// Waiter, if not empty, names who will come back after a refusal. Each
	// waiter is then told an instant of its own, behind those who were refused
	// before it, and hears the same instant again when it asks early. All who
	// share the store stand in one line, so the same name is the same waiter in
	// every process. Slots are advice: they take nothing from the window and end
	// when their instant is reached.
	Waiter string
}

// Check returns [ErrInvalidAsk] or [ErrExceedsQuota] for a question that has no
// answer.
func (a Ask) Check() error {
	if err := a.Quota.Check(); err != nil {
		return err
	}
	if a.Tokens < 0 || a.Tokens > MaxTokens {
		return fmt.Errorf("%w: %d tokens", ErrInvalidAsk, a.Tokens)
	}
	if a.Quota.Tokens > 0 && a.Tokens > a.Quota.Tokens {
		return fmt.Errorf("%w: %d tokens of %d", ErrExceedsQuota, a.Tokens, a.Quota.Tokens)
	}
	return nil
}

// Check returns [ErrInvalidAsk] for a quota that means nothing.
func (q Quota) Check() error {
	switch {
	case q.Window <= 0 || q.Window > MaxWindow:
		return fmt.Errorf("%w: window of %v", ErrInvalidAsk, q.Window)
	case q.Requests < 0:
		return fmt.Errorf("%w: quota of %d requests", ErrInvalidAsk, q.Requests)
	case q.Tokens < 0:
		return fmt.Errorf("%w: quota of %d tokens", ErrInvalidAsk, q.Tokens)
	}
	return nil
}

// Admission is the answer to one [Ledger.Admit].
type Admission struct {
	Admitted bool

	// RetryAfter is, for a refusal, how long from now until the same question
	// would be answered with yes if nobody else asked, or until the slot of
	// [Ask.Waiter].
	RetryAfter time.Duration

	// ID names what was admitted, for [Ledger.Settle]. 0 means that nothing was
	// recorded, because the quota is unlimited.
	ID uint64
}

// Standing is what a window holds at one instant, a snapshot.
type Standing struct {
	Requests   int64         // admissions in the window
	Tokens     int64         // tokens in the window
	RetryAfter time.Duration // 0 if one more request of no tokens would be admitted now
}

// Ledger is an optional capability of a cache: it admits to a sliding window in
// one atomic step, requests and tokens together or not at all, by the store's
// own clock, so that in ANY span of Window, half open, no more than the quota is
// admitted, whatever the number of processes and however wrong their clocks.
//
// The quota belongs to the question, not to the key, and may change from one to
// the next. An unlimited quota admits unless the key is cooling down, and records
// nothing. A ledger, a value and a hit series may share a key without
// colliding; Delete leaves the ledger alone.
//
// Every method is safe for concurrent use.
type Ledger interface {
	// Admit takes one request and its tokens from key's window, or nothing.
	// After an error nothing may be used, though it may have been taken.
	Admit(ctx context.Context, key string, ask Ask) (Admission, error)

	// Settle replaces the tokens of the admission id by what was really used,
	// more or less. An id that has left the window is not an error.
	Settle(ctx context.Context, key string, id uint64, tokens int64) error

	// Cool refuses every admission to key for d from now. A cool-down is only
	// ever extended, never cut short. A d of 0 or less does nothing.
	Cool(ctx context.Context, key string, d time.Duration) error

	// Peek reads the window without taking anything.
	Peek(ctx context.Context, key string, q Quota) (Standing, error)
}
