// Package resilience keeps calls to an unreliable, shared server within what
// that server can take: a retry, a rate limiter and a circuit breaker, which
// know nothing of what they protect.
//
//   - [Retry] repeats a call that failed for a passing reason.
//   - [Limiter] admits at most so many calls, and tokens, of a tenant in any
//     span of a window.
//   - [Breaker] stops calls to a server that has failed too often and lets a
//     few of them probe whether it has come back.
//   - [Guard] puts the three around any function, in the order breaker,
//     limiter, retry.
//
// Limiter and breaker keep their state behind the ports of package kvcache.
// Without one they own a cache in memory, which is exact for one process. With
// a cache that several processes share they agree with each other.
//
// Nothing here reads an error's meaning by itself. Which errors may be retried,
// and which speak against the server, is an argument: see [Class].
//
// Callers whom the limiter refuses are all told the same instant, unless they say who
// will come back: [WithWaiter], or [Call].Waiter, gives each an instant of its own. Use
// something that stays the same when it asks again, such as a message's id.
//
// Refusals are errors of their own types, [*RateLimitExceeded] and
// [*CircuitOpen], and say when to ask again. [*StoreError] says that the shared
// state could not be read or written; it is never the outcome of the guarded
// call. Every error type of this package answers RetryDelay.
package resilience
