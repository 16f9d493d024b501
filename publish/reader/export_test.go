package reader

import "time"

// Bounded is a reader with bounds that a test can reach.
func Bounded(unpacked int64, timeout time.Duration) *Reader {
	return &Reader{unpacked: unpacked, timeout: timeout}
}
