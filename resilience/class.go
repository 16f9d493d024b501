package resilience

import "time"

// Outcome is what a call says about its server.
type Outcome int

const (
	// Failure: the server failed. Enough of them open the circuit. It is the
	// zero value, so that an error nobody thought of is not taken for health.
	Failure Outcome = iota
	// Success: the server did its work, even if the caller has no use for the
	// answer.
	Success
	// Neutral: the call says nothing about the server.
	Neutral
	// Trip: no call can succeed for the time being, so the circuit opens at
	// once.
	Trip
)

// Class is what an error of the guarded function means. The zero value is a
// failure of the server that is not retried.
type Class struct {
	Outcome Outcome
	// Retry: another attempt may succeed.
	Retry bool
	// RetryAfter is the wait that the server asked for, a floor for the next
	// attempt. 0 for none.
	RetryAfter time.Duration
	// Cool: the tenant is admitted nothing for RetryAfter, by nobody who shares
	// the limiter's cache.
	Cool bool
	// Reason is kept with the circuit for operators. It must hold no secrets.
	// Defaults to nothing.
	Reason string
}
