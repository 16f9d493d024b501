package resilience

import (
	"net/http"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/retryafter"
)

// MaxRetryAfter is the longest wait that [ParseRetryAfter] takes from a server.
const MaxRetryAfter = retryafter.Max

// ParseRetryAfter reads how long a response asks the client to wait. It knows
// Retry-After-Ms (milliseconds, preferred because it is finer) and Retry-After
// (seconds, or an HTTP date); both may have a fraction.
//
// A date is measured against the response's own Date header where there is one,
// else against now; one that has passed is a wait of 0. Anything longer than
// [MaxRetryAfter] is cut to it. Anything that is not such a value is ignored as
// if the header were not there; ok is false when nothing is left.
func ParseRetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	return retryafter.Parse(h, now)
}
