package hardened

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// MinCooldown is for how long a tenant is left alone, at least, after the model
// server has said that it sends too much.
const MinCooldown = time.Second

// Classify says what an error of a provider means to a [resilience.Guard]:
//
//	unavailable            the server failed; retried
//	rate_limited           says nothing about the server's health; the tenant cools for
//	                       what the server asked, at least MinCooldown; not retried in hand
//	auth, quota            opens the circuit at once, with the reason; not retried
//	malformed, empty, truncated, refused, context_too_long, invalid_request
//	                       the server answered, which is a success of the server; not retried
//
// The end of the caller's deadline counts against a server that did not answer
// in time. A cancelled call and a blank text say nothing about it. Any other
// error is taken for a failure of the server and not retried.
//
// To change a decision, wrap it:
//
//	func(err error) resilience.Class {
//		class := hardened.Classify(err)
//		if class.Cool {
//			class.Retry = true // wait for the server's word while holding the call
//		}
//		return class
//	}
func Classify(err error) resilience.Class {
	var failed *extraction.ProviderError
	if errors.As(err, &failed) {
		return classifyKind(failed)
	}
	var blank extraction.BlankTextError
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &blank):
		return resilience.Class{Outcome: resilience.Neutral}
	case errors.Is(err, context.DeadlineExceeded):
		return resilience.Class{Outcome: resilience.Failure, Reason: "no answer before the call's deadline"}
	}
	return resilience.Class{Outcome: resilience.Failure, Reason: "unexpected error of the provider"}
}

func classifyKind(e *extraction.ProviderError) resilience.Class {
	switch e.Kind {
	case extraction.KindUnavailable:
		return resilience.Class{Outcome: resilience.Failure, Retry: true, RetryAfter: e.RetryAfter, Reason: e.Error()}
	case extraction.KindRateLimited:
		return resilience.Class{Outcome: resilience.Neutral, Cool: true, RetryAfter: max(e.RetryAfter, MinCooldown)}
	case extraction.KindAuth, extraction.KindQuota:
		return resilience.Class{Outcome: resilience.Trip, Reason: e.Error()}
	case extraction.KindMalformed, extraction.KindEmpty, extraction.KindTruncated,
		extraction.KindRefused, extraction.KindContextTooLong, extraction.KindInvalidRequest:
		return resilience.Class{Outcome: resilience.Success}
	}
	return resilience.Class{Outcome: resilience.Failure, Reason: e.Error()}
}
