package kvcache

import (
	"context"
	"time"
)

// KeyValue is the half of the port that a circuit breaker uses: string values
// that may expire, and counters.
//
// A key may hold a value and a hit series at the same time; they never collide.
// Every method is safe for concurrent use.
type KeyValue interface {
	// Get returns the value of key. A missing or expired key is not an error:
	// ok is false. A counter reads back as its decimal string.
	Get(ctx context.Context, key string) (value string, ok bool, err error)

	// Set stores value under key. A ttl of 0 keeps it until it is deleted; a
	// positive ttl, of any precision, is when the cache forgets it. A negative
	// ttl is an error ([ErrInvalidTTL]).
	Set(ctx context.Context, key, value string, ttl time.Duration) error

	// Increment adds one to the number under key and returns the result. A
	// missing key counts as 0 and is created with ttl; on an existing key ttl is
	// ignored, so that a counter expires a fixed time after its first increment.
	// A value that is not a decimal number is an error ([ErrNotNumber]) and
	// stays as it is.
	Increment(ctx context.Context, key string, ttl time.Duration) (int64, error)

	// Delete forgets both the value and the hit series of key. Deleting a
	// missing key is not an error.
	Delete(ctx context.Context, key string) error
}

// HitWindow is the half of the port that a rate limiter uses: a series of
// instants per key. The caller owns every instant that appears in an answer; an
// adapter reads no clock to answer a question about a window, only to decide
// when it may forget.
//
// Every method is safe for concurrent use.
type HitWindow interface {
	// RecordHit adds one hit at the instant at. Two hits at the same instant
	// are two hits. The hit may be forgotten once ttl, which must be positive,
	// has passed; it must exceed the widest window that will be asked for.
	RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error

	// CountHits returns how many hits lie at or after since. Hits before since
	// may be discarded.
	CountHits(ctx context.Context, key string, since time.Time) (int, error)

	// OldestHit returns the earliest hit at or after since; ok is false when
	// there is none. Hits before since may be discarded.
	OldestHit(ctx context.Context, key string, since time.Time) (at time.Time, ok bool, err error)
}

// Cache is the whole port: eight operations.
type Cache interface {
	KeyValue
	HitWindow

	// Close releases what the cache itself created, and nothing that was handed
	// to it. Closing twice is safe. Other operations on a closed cache return
	// [ErrClosed].
	Close() error
}
