package resilience_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// rig is one circuit on a cache in memory, with a clock that stands still
// until it is moved. Threshold 3, recovery 10s, 1 probe, lease 4s.
type rig struct {
	t     *testing.T
	now   time.Time
	cache *kvcache.Memory
	cfg   resilience.BreakerConfig
	*resilience.Breaker
}

func newRig(t *testing.T, adjust ...func(*resilience.BreakerConfig)) *rig {
	b := &rig{t: t, now: time.Unix(1_700_000_000, 250e6)}
	b.cache = kvcache.NewMemory(kvcache.WithClock(b.clock))
	b.cfg = resilience.BreakerConfig{
		Cache: b.cache, Name: "model", FailureThreshold: 3, RecoveryTimeout: 10 * time.Second,
		HalfOpenMaxCalls: 1, ProbeLease: 4 * time.Second, Clock: b.clock,
	}
	b.Breaker = b.another(adjust...)
	return b
}

func (b *rig) clock() time.Time { return b.now }

// another makes one more breaker for the circuit, as a second process would.
func (b *rig) another(adjust ...func(*resilience.BreakerConfig)) *resilience.Breaker {
	cfg := b.cfg
	for _, a := range adjust {
		a(&cfg)
	}
	breaker, err := resilience.NewBreaker(cfg)
	require.NoError(b.t, err)
	b.cfg = cfg
	return breaker
}

func (b *rig) pass(d time.Duration) { b.now = b.now.Add(d) }

func (b *rig) allowed() resilience.Permit {
	b.t.Helper()
	p, ok, err := b.Allow(b.t.Context())
	require.NoError(b.t, err)
	require.True(b.t, ok, "refused: %v", p.Refusal())
	require.Nil(b.t, p.Refusal())
	return p
}

func (b *rig) refused() *resilience.CircuitOpen {
	b.t.Helper()
	p, ok, err := b.Allow(b.t.Context())
	require.NoError(b.t, err)
	require.False(b.t, ok)
	require.NotNil(b.t, p.Refusal())
	return p.Refusal()
}

func (b *rig) fail(times int) {
	b.t.Helper()
	for range times {
		require.NoError(b.t, b.allowed().Failure(b.t.Context(), "no answer"))
	}
}

func (b *rig) open() {
	b.t.Helper()
	b.fail(b.cfg.FailureThreshold)
	b.is(resilience.Open)
}

// due opens the circuit and lets the recovery timeout pass.
func (b *rig) due() {
	b.t.Helper()
	b.open()
	b.pass(b.cfg.RecoveryTimeout)
}

func (b *rig) is(want resilience.State) {
	b.t.Helper()
	got, err := b.State(b.t.Context())
	require.NoError(b.t, err)
	require.Equal(b.t, want, got)
}

// key returns what is stored, "" for nothing.
func (b *rig) key(name string) string {
	b.t.Helper()
	v, _, err := b.cache.Get(b.t.Context(), b.cfg.Prefix+b.cfg.Name+"."+name)
	require.NoError(b.t, err)
	return v
}

// edit is an operator at the store's own command line.
func (b *rig) edit(name, value string) {
	b.t.Helper()
	require.NoError(b.t, b.cache.Set(b.t.Context(), b.cfg.Prefix+b.cfg.Name+"."+name, value, 0))
}

func (b *rig) remove(name string) {
	b.t.Helper()
	require.NoError(b.t, b.cache.Delete(b.t.Context(), b.cfg.Prefix+b.cfg.Name+"."+name))
}

func (b *rig) retryAfter() time.Duration {
	b.t.Helper()
	d, err := b.RetryAfter(b.t.Context())
	require.NoError(b.t, err)
	return d
}

func (b *rig) versions() []kvcache.Entry {
	b.t.Helper()
	var entries []kvcache.Entry
	for _, name := range []string{"state", "failures", "half_open_calls", "opened_at", "reason", "hold", "probe.0"} {
		entries = append(entries, kvcache.Entry{Key: b.cfg.Prefix + b.cfg.Name + "." + name})
	}
	require.NoError(b.t, b.cache.Load(b.t.Context(), entries))
	return entries
}
