// Package ledger is the arithmetic of a sliding window over requests and tokens,
// shared by every [kvcache.Ledger] of this module. It reads no clock, does no
// I/O and takes no lock: time is an int64 of nanoseconds that the caller
// passes in, counted from wherever the caller likes.
//
// The one rule, from which the promise "never more than the quota in any span
// of Window" follows: an admission at instant a is inside the window of an
// instant t if t-Window < a <= t, and a new one is admitted at t only if
// everything inside, plus itself, is within the quota. Take any span of that
// length and the last admission in it: its own check covered the whole span.
//
// [kvcache.Ledger]: https://pkg.go.dev/github.com/weirkeeper/weirkeeper/kvcache#Ledger
package ledger
