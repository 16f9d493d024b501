// Package admission decides when a call may start, owns it until it is over, and
// gives it one deadline through every stage.
//
// A [Controller] is process-local: a bounded first-in-first-out queue, a fixed
// window of requests and tokens, and concurrency permits, all acquired before any
// hook or provider work. A [Runner] takes a call through its whole life, one-shot
// with [Invoke] or streamed with [Stream], by the same steps:
//
//	enqueue -> rate -> concurrency -> pre-hook -> guard(attempts) -> post-hook -> terminal -> release
//
// The deadline is the caller's context, made absolute once at the outermost
// caller (see [WithTimeout]); every stage runs under the smaller of its own cap
// and what remains. Nothing here knows what a call does or who serves it.
//
// Limits that a whole fleet shares are the business of package resilience; a
// Runner takes them as its [Guard].
package admission
