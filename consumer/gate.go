package consumer

import (
	"context"
	"math"
	"sync"
	"time"
)

// Gate says beforehand what would be refused, so that it is not pulled. Its
// answers are advice: the extractor has the last word, and what it refuses goes
// back to the queue. It must be safe for concurrent use.
type Gate interface {
	// Server is how many calls may be begun now, whoever's they are: fewer than
	// any number while a circuit is open or probed.
	Server(ctx context.Context) (Allowance, error)
	// Tenant is how many calls of one tenant may be begun now.
	Tenant(ctx context.Context, tenant string) (Allowance, error)
}

// Allowance is how many calls may be begun now and, if that is none, when it is
// worth asking again.
type Allowance struct {
	Calls int // or [Unlimited]
	Wait  time.Duration
}

// Unlimited as Allowance.Calls is any number.
const Unlimited = math.MaxInt

// openGate refuses nothing.
type openGate struct{}

func (openGate) Server(context.Context) (Allowance, error) { return Allowance{Calls: Unlimited}, nil }
func (openGate) Tenant(context.Context, string) (Allowance, error) {
	return Allowance{Calls: Unlimited}, nil
}

type admittedKey struct{}

// Admitted tells the worker whose chunk ctx belongs to that the call for it has
// been admitted: from now on the gate's answers have it in them. Without this
// word a chunk counts as not yet admitted until it is settled, and the worker
// pulls less than it might. Harmless with any other ctx, and more than once.
func Admitted(ctx context.Context) {
	if admitted, ok := ctx.Value(admittedKey{}).(func()); ok {
		admitted()
	}
}

// gateTrust is for how long the answer that nothing is limited is believed.
// Whatever is refused meanwhile ends the belief.
const gateTrust = 250 * time.Millisecond

// trusted remembers that there was no limit.
type trusted struct {
	mu    sync.Mutex
	until time.Time
}

func (t *trusted) holds(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until)
}

func (t *trusted) believe(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = until
}

// doubt ends the belief.
func (t *trusted) doubt() { t.believe(time.Time{}) }

// ask returns the allowance, without asking while no limit was known of.
func (t *trusted) ask(now time.Time, ask func() (Allowance, error)) (Allowance, error) {
	if t.holds(now) {
		return Allowance{Calls: Unlimited}, nil
	}
	a, err := ask()
	if err == nil && a.Calls == Unlimited {
		t.believe(now.Add(gateTrust))
	}
	return a, err
}
