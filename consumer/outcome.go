package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// action is what happens to a delivery.
type action int

const (
	settle   action = iota // done: what became of it is stored
	later                  // back to the queue, after a delay
	backoff                // a failed attempt: later, or dead if it was the last
	dead                   // set aside with the reason
	giveBack               // back to the queue at once
	leave                  // to the server, which has given it to somebody else
)

// verdict is what an error comes to.
type verdict struct {
	name    string // an outcome, or a dead letter in the making
	action  action
	attempt bool          // counts as an attempt of the chunk
	kind    string        // of the dead letter, for dead and backoff
	delay   time.Duration // for later; for backoff at least this long
}

// What deliveries come to, as they are counted, logged and told to the observer. One that
// was put back because the server takes nobody's key counts as the kind of that error.
const (
	outcomeExtracted   = "extracted"
	outcomeAlreadyDone = "already_done"
	outcomeSplit       = "split" // of a document
	outcomeLost        = "lost"
	outcomeStopping    = "stopping"
	outcomeDead        = "dead_" // and the kind of the letter

	outcomeRateLimited       = "rate_limit_refused" // by our own limit
	outcomeExceedsWindow     = "exceeds_window"
	outcomeCircuitOpen       = "circuit_open"
	outcomePaused            = "paused"
	outcomeNotAdmitted       = "not_admitted"
	outcomeServerRateLimited = "server_rate_limited"
	outcomeStoreUnavailable  = "store_unavailable" // the shared stores are to blame
	outcomeDeadline          = "deadline"
	outcomeFailed            = "failed"
)

const (
	// authDelay is for a server that answers nobody. The circuit opens at the
	// same time and has the say from then on.
	authDelay = 10 * time.Second
	// pausedDelay is short because a pause may be ended early, and costs nothing:
	// nobody pulls while it lasts.
	pausedDelay = time.Second
	// minDelay keeps a refusal that names no time from coming back at once.
	minDelay = 20 * time.Millisecond
)

// judge is the table of outcomes. ctx is the one that the work was done under:
// what ended it outranks what the work made of that, but not an answer of the
// model. own is the delay that the worker would choose itself.
func judge(ctx context.Context, err error, own time.Duration) verdict {
	if err == nil {
		return verdict{name: outcomeExtracted, action: settle}
	}
	var (
		invalid  *wire.InvalidMessageError
		token    *wire.TokenError
		large    *wire.TooLargeError
		blank    extraction.BlankTextError
		unclean  *extraction.InvalidTextError
		limited  *resilience.RateLimitExceeded
		open     *resilience.CircuitOpen
		store    *storeError
		shared   *resilience.StoreError
		provider *extraction.ProviderError
		late     *admission.DeadlineExceeded
		panicked *panicError
		paused   *PausedError
	)
	_, _, window, oversized := oversizedBy(err)
	switch {
	case errors.As(err, &panicked):
		// Another worker would only panic as well: attempts are of no use.
		return verdict{name: "panic", action: dead, attempt: true, kind: wire.KindAttemptsExhausted}

	case errors.As(err, &invalid), errors.As(err, &token), errors.As(err, &large),
		errors.As(err, &blank), errors.As(err, &unclean):
		return verdict{name: "invalid_message", action: dead, kind: wire.KindInvalidMessage}

	case errors.As(err, &provider) && answered(provider.Kind):
		return verdict{name: string(provider.Kind), action: dead, attempt: true, kind: string(provider.Kind)}

	case errors.Is(context.Cause(ctx), errStopping), errors.Is(err, admission.ErrClosed):
		return verdict{name: outcomeStopping, action: giveBack}

	case errors.As(err, &limited):
		return verdict{name: outcomeRateLimited, action: later, delay: max(limited.RetryAfter, minDelay)}

	case oversized:
		return verdict{name: outcomeExceedsWindow, action: later, delay: min(max(window, oversizedLeast), oversizedMost)}

	case errors.As(err, &open):
		return verdict{name: outcomeCircuitOpen, action: later, delay: max(open.RetryAfter, minDelay)}

	case errors.As(err, &paused):
		return verdict{name: outcomePaused, action: later, delay: min(max(paused.Left, minDelay), pausedDelay)}

	case errors.As(err, &store), errors.As(err, &shared), errors.Is(err, kvcache.ErrUnavailable), errors.Is(err, kvcache.ErrClosed):
		return verdict{name: outcomeStoreUnavailable, action: later, delay: storeDelay}

	case provider != nil && provider.Kind == extraction.KindRateLimited:
		return verdict{name: outcomeServerRateLimited, action: later, delay: max(provider.RetryAfter, own, minDelay)}

	case provider != nil && (provider.Kind == extraction.KindAuth || provider.Kind == extraction.KindQuota):
		return verdict{name: string(provider.Kind), action: later, delay: authDelay}

	case errors.As(err, &late) && (late.Phase == admission.PhaseEnqueue || late.Phase == admission.PhaseRate || late.Phase == admission.PhaseConcurrency):
		// The time went by in our own queue: the model was never asked.
		return verdict{name: outcomeNotAdmitted, action: later, delay: max(own, minDelay)}

	case errors.Is(context.Cause(ctx), errDeadline):
		return verdict{name: outcomeDeadline, action: backoff, attempt: true, kind: wire.KindDeadline}

	default:
		// Transport, timeout, 5xx, and whatever nobody thought of: it may pass.
		v := verdict{name: outcomeFailed, action: backoff, attempt: true, kind: wire.KindAttemptsExhausted}
		if provider != nil {
			v.delay = provider.RetryAfter
		}
		return v
	}
}

// answered reports the kinds that the same question would bring again. They
// have the names of the dead letters.
func answered(kind extraction.Kind) bool {
	switch kind {
	case extraction.KindMalformed, extraction.KindEmpty, extraction.KindTruncated, extraction.KindRefused,
		extraction.KindContextTooLong, extraction.KindInvalidRequest:
		return true
	}
	return false
}
