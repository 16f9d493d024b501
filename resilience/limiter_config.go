package resilience

import (
	"math"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Unlimited as Limits.Requests admits any number of requests.
const Unlimited = math.MaxInt64

// DefaultWindow stands for a Limits.Window of 0.
const DefaultWindow = 60 * time.Second

// Limits of one tenant.
type Limits struct {
	Requests int64         // per window; required, positive, or [Unlimited]
	Tokens   int64         // per window; 0 is no limit
	Window   time.Duration // 0 is [DefaultWindow]
}

// LimiterConfig configures a [Limiter].
type LimiterConfig struct {
	// Cache holds the windows. It stays open when the limiter is closed. Nil: a
	// cache in memory of the limiter's own.
	Cache kvcache.HitWindow

	// Limits of every tenant that LimitsFor does not name. Required.
	Limits Limits

	// LimitsFor returns the limits of a tenant, if it has its own. It is asked
	// on every call and may answer differently while running; it must be quick and
	// safe for concurrent use. Nil: Limits for everyone.
	LimitsFor func(tenant string) (Limits, bool)

	// Prefix goes before each tenant to form its key. Limiters with different
	// prefixes share a cache without sharing an allowance, as long as no prefix is
	// the beginning of another: end them with a character that tenants do not
	// have. Default: none.
	Prefix string

	// Clock is the time of a cache that has no clock of its own: the one in
	// memory, or a HitWindow without Ledger. Default: time.Now.
	Clock func() time.Time
}

// check names the field of argument that means nothing. An allowance of zero is
// nearly always a variable that was not set, so it is an error as well.
func (l Limits) check(argument string) error {
	switch {
	case l.Requests <= 0:
		return &ConfigError{Argument: argument + ".Requests", Problem: "must be positive, or Unlimited"}
	case l.Tokens < 0:
		return &ConfigError{Argument: argument + ".Tokens", Problem: "must not be negative"}
	case l.Window < 0:
		return &ConfigError{Argument: argument + ".Window", Problem: "must be positive, or 0 for the default"}
	case l.Window > kvcache.MaxWindow:
		return &ConfigError{Argument: argument + ".Window", Problem: "must be at most 31 days"}
	}
	return nil
}
