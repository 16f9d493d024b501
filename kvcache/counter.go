package kvcache

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// NextCount returns the number after the decimal number in value, which is what
// [KeyValue.Increment] stores. It is here so that every adapter agrees on what
// a number is: an optional sign and decimal digits that fit 64 bits, with room
// for one more. Anything else is [ErrNotNumber].
func NextCount(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n == math.MaxInt64 {
		return 0, fmt.Errorf("%w: %.40q", ErrNotNumber, value)
	}
	return n + 1, nil
}

// CheckChanges reports what makes a list of changes invalid before any store is
// asked: a negative TTL other than [KeepTTL], or one key named twice. It is here
// for adapters that offer [Versioned].
func CheckChanges(changes []Change) error {
	for i, c := range changes {
		if c.TTL < 0 && c.TTL != KeepTTL && !c.Delete {
			return fmt.Errorf("%w: %v for key %.80q", ErrInvalidTTL, c.TTL, c.Key)
		}
		for _, earlier := range changes[:i] {
			if earlier.Key == c.Key {
				return fmt.Errorf("%w: %.80q", ErrDuplicateKey, c.Key)
			}
		}
	}
	return nil
}

// checkTTL accepts 0, which means for ever, and every positive ttl.
func checkTTL(ttl time.Duration) error {
	if ttl < 0 {
		return fmt.Errorf("%w: %v is negative", ErrInvalidTTL, ttl)
	}
	return nil
}
