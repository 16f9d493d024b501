// Package hardened makes one [extraction.Provider] of another: the same model
// behind a circuit breaker, a rate limit and retries. It is where extraction
// and resilience meet; neither knows the other, and a pipeline cannot tell a
// hardened provider from a plain one.
package hardened
