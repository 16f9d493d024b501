// Package retryafter reads the Retry-After headers of an HTTP response. The
// provider adapters and the resilience package both need it, and neither may
// import the other.
package retryafter

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Max is the longest wait that [Parse] takes from a server.
const Max = 24 * time.Hour

// Parse reads how long a response asks the client to wait. It knows
// Retry-After-Ms (milliseconds, preferred because it is finer) and Retry-After
// (seconds, or an HTTP date); both may have a fraction.
//
// A date is measured against the response's own Date header where there is one,
// so that a wrong local clock does no harm, else against now. A date that has
// passed is a wait of 0. Anything longer than [Max] is cut to it.
// Anything else (negative, not a plain decimal number, not a date) is ignored
// as if the header were not there; ok is false when nothing is left.
func Parse(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if wait, ok := decimalDuration(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait, true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if wait, ok := decimalDuration(value, time.Second); ok {
		return wait, true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(0, until.Sub(now)), Max), true
}

// decimalDuration reads digits with an optional fraction, and nothing else that
// strconv would take for a number (signs, exponents, hexadecimal, infinity).
func decimalDuration(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(n, 1) { // too many digits is a number too: a huge one
		return 0, false
	}
	if n >= float64(Max/unit) {
		return Max, true
	}
	return time.Duration(math.Round(n * float64(unit))), true
}
