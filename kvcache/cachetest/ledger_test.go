package cachetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// crooked is a sound cache with a ledger whose operations can be spoilt.
type crooked struct {
	*faulty
	admit  func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error)
	settle func(ctx context.Context, key string, id uint64, tokens int64) error
	cool   func(ctx context.Context, key string, d time.Duration) error
	peek   func(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error)
}

func newCrooked(spoil func(c *crooked, m *kvcache.Memory)) *crooked {
	c := &crooked{faulty: newFaulty(func(*faulty, *kvcache.Memory) {})}
	m := c.Memory
	c.admit, c.settle, c.cool, c.peek = m.Admit, m.Settle, m.Cool, m.Peek
	spoil(c, m)
	return c
}

func (c *crooked) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	return c.admit(ctx, key, ask)
}
func (c *crooked) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	return c.settle(ctx, key, id, tokens)
}
func (c *crooked) Cool(ctx context.Context, key string, d time.Duration) error {
	return c.cool(ctx, key, d)
}
func (c *crooked) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	return c.peek(ctx, key, q)
}

type asked = func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error)

// crookedLedgers are mistakes that a ledger might make.
func crookedLedgers() map[string]func(c *crooked, m *kvcache.Memory) {
	onAdmit := func(change func(m *kvcache.Memory) asked) func(*crooked, *kvcache.Memory) {
		return func(c *crooked, m *kvcache.Memory) { c.admit = change(m) }
	}
	return map[string]func(c *crooked, m *kvcache.Memory){
		"one too many": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				if ask.Quota.Requests > 0 {
					ask.Quota.Requests++
				}
				return m.Admit(ctx, key, ask)
			}
		}),
		"a window cut short": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				ask.Quota.Window -= ask.Quota.Window / 10
				return m.Admit(ctx, key, ask)
			}
		}),
		"counts first, takes later": func(c *crooked, m *kvcache.Memory) {
			c.admit = func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				if ask.Check() != nil || ctx.Err() != nil {
					return m.Admit(ctx, key, ask)
				}
				s, err := m.Peek(ctx, key, ask.Quota)
				if err != nil || s.RetryAfter > 0 || ask.Quota.Tokens > 0 && s.Tokens+ask.Tokens > ask.Quota.Tokens {
					return m.Admit(ctx, key, ask)
				}
				time.Sleep(time.Millisecond) // the mistake: others count meanwhile
				ask.Quota.Requests *= 100
				return m.Admit(ctx, key, ask)
			}
		},
		"a refusal costs": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				a, err := m.Admit(ctx, key, ask)
				if err == nil && !a.Admitted {
					_, _ = m.Admit(ctx, key, kvcache.Ask{Quota: perMinute(1<<40, 0)})
				}
				return a, err
			}
		}),
		"always says a whole window": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				a, err := m.Admit(ctx, key, ask)
				if err == nil && !a.Admitted {
					a.RetryAfter = ask.Quota.Window
				}
				return a, err
			}
		}),
		"says to come back too early": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				a, err := m.Admit(ctx, key, ask)
				a.RetryAfter /= 2
				return a, err
			}
		}),
		"takes tokens for nothing": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				ask.Quota.Tokens = 0
				return m.Admit(ctx, key, ask)
			}
		}),
		"one key for all": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				return m.Admit(ctx, "k", ask)
			}
		}),
		"the first quota for ever": func(c *crooked, m *kvcache.Memory) {
			first := map[string]kvcache.Quota{}
			c.admit = func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				c.state.Lock()
				defer c.state.Unlock()
				if q, ok := first[key]; ok && ask.Check() == nil {
					ask.Quota, ask.Tokens = q, 0
				} else if ask.Check() == nil {
					first[key] = ask.Quota
				}
				return m.Admit(ctx, key, ask)
			}
		},
		"waiters are all told the same": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				ask.Waiter = ""
				return m.Admit(ctx, key, ask)
			}
		}),
		"waiters move back when they ask": func(c *crooked, m *kvcache.Memory) {
			n := 0
			c.admit = func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				c.state.Lock()
				defer c.state.Unlock()
				if ask.Waiter != "" {
					n++
					ask.Waiter = time.Duration(n).String()
				}
				return m.Admit(ctx, key, ask)
			}
		},
		"a nonsensical question is answered": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				a, err := m.Admit(ctx, key, ask)
				if ask.Check() != nil {
					err = nil
				}
				return a, err
			}
		}),
		"deaf to cancellation": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				return m.Admit(context.WithoutCancel(ctx), key, ask)
			}
		}),
		"unlimited is recorded": onAdmit(func(m *kvcache.Memory) asked {
			return func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				if ask.Quota.Requests == 0 && ask.Quota.Tokens == 0 {
					ask.Quota.Requests = 1 << 40
				}
				return m.Admit(ctx, key, ask)
			}
		}),
		"settling adds": func(c *crooked, m *kvcache.Memory) {
			c.settle = func(ctx context.Context, key string, id uint64, tokens int64) error {
				return m.Settle(ctx, key, id, tokens+20)
			}
		},
		"settling does nothing": func(c *crooked, m *kvcache.Memory) {
			c.settle = func(context.Context, string, uint64, int64) error { return nil }
		},
		"the last cool-down wins": func(c *crooked, m *kvcache.Memory) {
			var until time.Time
			c.cool = func(_ context.Context, _ string, d time.Duration) error {
				c.state.Lock()
				defer c.state.Unlock()
				until = c.Now().Add(d)
				return nil
			}
			c.admit = func(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
				c.state.Lock()
				defer c.state.Unlock()
				if wait := until.Sub(c.Now()); wait > 0 {
					return kvcache.Admission{RetryAfter: wait}, nil
				}
				return m.Admit(ctx, key, ask)
			}
		},
		"no cool-down": func(c *crooked, m *kvcache.Memory) {
			c.cool = func(context.Context, string, time.Duration) error { return nil }
		},
		"peeking takes": func(c *crooked, m *kvcache.Memory) {
			c.peek = func(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
				s, err := m.Peek(ctx, key, q)
				if err == nil {
					_, _ = m.Admit(ctx, key, kvcache.Ask{Quota: perMinute(1<<40, 0)})
				}
				return s, err
			}
		},
		"deleting forgets the ledger": func(c *crooked, m *kvcache.Memory) {
			deleted := map[string]bool{}
			c.delete = func(ctx context.Context, key string) error { deleted[key] = true; return m.Delete(ctx, key) }
			c.peek = func(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
				s, err := m.Peek(ctx, key, q)
				if deleted[key] {
					s = kvcache.Standing{}
				}
				return s, err
			}
		},
	}
}

// R12: every broken ledger must be caught, every check must catch one, and a
// sound ledger must pass every check.
func TestEveryLedgerCheckBites(t *testing.T) {
	caught := map[string]bool{}
	for name, spoil := range crookedLedgers() {
		for _, c := range ledgerChecks() {
			if failures := judge(t, c, newCrooked(spoil)); len(failures) > 0 {
				caught[c.name], caught[name] = true, true
			}
		}
		require.True(t, caught[name], "a ledger in which %q passes the suite", name)
	}
	for _, c := range ledgerChecks() {
		require.True(t, caught[c.name], "no broken ledger fails %q", c.name)
		require.Empty(t, judge(t, c, newCrooked(func(*crooked, *kvcache.Memory) {})), c.name)
	}
}

// The in-memory cache passes in real time as well.
func TestMemoryLedgerInRealTime(t *testing.T) {
	RunLedger(t, func(*testing.T) kvcache.Cache { return kvcache.NewMemory() })
}
