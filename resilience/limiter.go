package resilience

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Limiter admits calls of tenants to their sliding windows: at most
// Limits.Requests, and Limits.Tokens, in any span of Limits.Window.
//
// Over a cache with [kvcache.Ledger], such as the default in memory or natskv,
// that is exact for everybody who shares the cache, by the store's clock.
// Over any other [kvcache.HitWindow] it is exact for the callers of one Limiter;
// several of them on one cache, in one process or in many, count before they
// record and may together exceed the limit when they ask at the same moment.
// Such a cache holds no tokens, its clock is [LimiterConfig].Clock, cool-downs
// reach this Limiter only, and all refused callers are told the same instant.
//
// Safe for concurrent use.
type Limiter struct {
	ledger    kvcache.Ledger
	exact     bool // ledger is the cache's own
	limits    Limits
	limitsFor func(tenant string) (Limits, bool)
	prefix    string
	close     func() error
}

// NewLimiter returns a limiter, or a [*ConfigError] that names the argument.
func NewLimiter(cfg LimiterConfig) (*Limiter, error) {
	if err := cfg.Limits.check("Limits"); err != nil {
		return nil, err
	}
	l := &Limiter{limits: cfg.Limits, limitsFor: cfg.LimitsFor, prefix: cfg.Prefix, close: func() error { return nil }}
	if cfg.Cache == nil {
		own := kvcache.NewMemory(kvcache.WithClock(cfg.Clock))
		l.ledger, l.exact, l.close = own, true, own.Close
		return l, nil
	}
	if l.ledger, l.exact = cfg.Cache.(kvcache.Ledger); l.exact {
		return l, nil
	}
	if cfg.Limits.Tokens > 0 {
		return nil, errNoTokens("Limits.Tokens")
	}
	clock := cfg.Clock
	if clock == nil {
		clock = time.Now
	}
	l.ledger = newHitLedger(cfg.Cache, clock)
	return l, nil
}

// AcquireOption adjusts one [Limiter.Acquire].
type AcquireOption struct {
	waiter   string
	optional bool
}

// WithWaiter names who will come back if this call is refused, such as a
// message's id. Each of many refused waiters is told an instant of its own
// instead of all the same one, and hears its instant again if it asks early.
// The empty id is nobody.
func WithWaiter(id string) AcquireOption { return AcquireOption{waiter: id} }

// AsOptional marks a call that its caller can do without. It is refused, with a
// wait of 0, when only one place of the window is left, which it leaves to a call
// that cannot be done without. Others may take that place meanwhile: this is
// consideration, not a promise.
func AsOptional() AcquireOption { return AcquireOption{optional: true} }

// Acquire admits one call of tenant that will use about tokens, or nothing of
// it. Where tokens are not limited they are not counted either.
//
// A refusal is a [*RateLimitExceeded] with the time to wait. It records nothing,
// so asking again does not make the wait longer. A call that could never be
// admitted is a [*RequestExceedsWindow]; a store that cannot be asked is a
// [*StoreError]; limits that mean nothing are a [*ConfigError].
func (l *Limiter) Acquire(ctx context.Context, tenant string, tokens int64, opts ...AcquireOption) (*Grant, error) {
	var how AcquireOption
	for _, opt := range opts {
		how.waiter = cmp.Or(opt.waiter, how.waiter)
		how.optional = how.optional || opt.optional
	}
	grant, err := l.acquire(ctx, tenant, tokens, how)
	if err != nil {
		return nil, err
	}
	return &grant, nil
}

func (l *Limiter) acquire(ctx context.Context, tenant string, tokens int64, how AcquireOption) (Grant, error) {
	quota, err := l.quota(tenant)
	if err != nil {
		return Grant{}, err
	}
	switch {
	case tokens < 0:
		return Grant{}, errTokens()
	case quota.Tokens == 0:
		tokens = 0
	case tokens > quota.Tokens:
		return Grant{}, &RequestExceedsWindow{Tokens: tokens, Limit: quota.Tokens, Window: quota.Window}
	case tokens > kvcache.MaxTokens:
		return Grant{}, errTokens()
	}
	key := l.prefix + tenant
	if how.optional && quota.Requests > 0 {
		standing, err := l.ledger.Peek(ctx, key, quota)
		if err != nil {
			return Grant{}, storeError(ctx, "limiter acquire", err)
		}
		if standing.Requests+1 >= quota.Requests {
			return Grant{}, &RateLimitExceeded{Tenant: tenant, RetryAfter: max(0, standing.RetryAfter)}
		}
	}
	admission, err := l.ledger.Admit(ctx, key, kvcache.Ask{Quota: quota, Tokens: tokens, Waiter: how.waiter})
	if err != nil {
		return Grant{}, storeError(ctx, "limiter acquire", err)
	}
	if !admission.Admitted {
		return Grant{}, &RateLimitExceeded{Tenant: tenant, RetryAfter: max(0, admission.RetryAfter)}
	}
	return Grant{ledger: l.ledger, key: key, id: admission.ID, tokens: tokens, counted: quota.Tokens > 0}, nil
}

// Remaining returns how many more calls of tenant would be admitted now, a
// snapshot for backpressure and never a permission. It is 0 while the tenant
// cools down or has no tokens left, and [math.MaxInt] where nothing is limited.
func (l *Limiter) Remaining(ctx context.Context, tenant string) (int, error) {
	n, _, err := l.Peek(ctx, tenant)
	return n, err
}

// Unlimited reports whether only a cool-down can refuse calls of tenant.
func (l *Limiter) Unlimited(tenant string) bool {
	quota, err := l.quota(tenant)
	return err == nil && quota.Requests == 0 && quota.Tokens == 0
}

// Peek is [Limiter.Remaining] with the time after which a call without tokens
// would be admitted, if none is now. It is 0 if only tokens are short: when
// enough of them are free depends on the call.
func (l *Limiter) Peek(ctx context.Context, tenant string) (remaining int, retryAfter time.Duration, err error) {
	quota, err := l.quota(tenant)
	if err != nil {
		return 0, 0, err
	}
	standing, err := l.ledger.Peek(ctx, l.prefix+tenant, quota)
	if err != nil {
		return 0, 0, storeError(ctx, "limiter remaining", err)
	}
	switch {
	case standing.RetryAfter > 0, quota.Tokens > 0 && standing.Tokens >= quota.Tokens:
		return 0, max(0, standing.RetryAfter), nil
	case quota.Requests == 0:
		return math.MaxInt, 0, nil
	}
	return int(min(max(0, quota.Requests-standing.Requests), math.MaxInt)), 0, nil
}

// Cool refuses every call of tenant for d from now, for everybody who shares
// the cache: its server has said so. A cool-down is only ever extended.
func (l *Limiter) Cool(ctx context.Context, tenant string, d time.Duration) error {
	if err := l.ledger.Cool(ctx, l.prefix+tenant, d); err != nil {
		return storeError(ctx, "limiter cool", err)
	}
	return nil
}

// Close releases the limiter's own cache, and leaves one that was handed in
// alone. Closing twice is safe.
func (l *Limiter) Close() error { return l.close() }

// Grant is one admitted call. It belongs to that call and is not safe for
// concurrent use.
type Grant struct {
	ledger  kvcache.Ledger
	key     string
	id      uint64
	tokens  int64
	counted bool
}

// Settle replaces the estimate of tokens by what the call really used, more or
// less. Without it the estimate stands; of several, the last one does.
func (g *Grant) Settle(ctx context.Context, tokens int64) error {
	if !g.counted || tokens == g.tokens {
		return nil
	}
	if tokens < 0 || tokens > kvcache.MaxTokens {
		return errTokens()
	}
	if err := g.ledger.Settle(ctx, g.key, g.id, tokens); err != nil {
		return storeError(ctx, "limiter settle", err)
	}
	g.tokens = tokens
	return nil
}

// quota returns what tenant may use, checked.
func (l *Limiter) quota(tenant string) (kvcache.Quota, error) {
	limits := l.limits
	if l.limitsFor != nil {
		if own, ok := l.limitsFor(tenant); ok {
			if err := own.check("LimitsFor"); err != nil {
				return kvcache.Quota{}, err
			}
			if own.Tokens > 0 && !l.exact {
				return kvcache.Quota{}, errNoTokens("LimitsFor.Tokens")
			}
			limits = own
		}
	}
	q := kvcache.Quota{Window: limits.Window, Requests: limits.Requests, Tokens: limits.Tokens}
	if q.Window == 0 {
		q.Window = DefaultWindow
	}
	if q.Requests == Unlimited {
		q.Requests = 0
	}
	return q, nil
}

func errTokens() error {
	return &ConfigError{Argument: "tokens", Problem: "must be from 0 to 2^40"}
}

func errNoTokens(argument string) error {
	return &ConfigError{Argument: argument, Problem: "cannot be limited with this cache: it has no kvcache.Ledger, and hits have no size"}
}
