package statuspage_test

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/history"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/statuspage"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "a-token-of-a-test-that-is-long-enough"

// world is a fleet of which a test says how it is.
type world struct {
	mu      sync.Mutex
	fleet   overview.Fleet
	history history.History
	letters []statuspage.Letter
	err     error
	reads   int
	orders  []string
	refusal error
}

func (w *world) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// Read implements statuspage.FleetReader.
func (w *world) Read(context.Context) (overview.Fleet, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.err == nil {
		w.fleet.At = time.Now().UTC()
	}
	f := w.fleet // written to JSON while the test goes on
	f.Tenants, f.Circuits, f.Workers = slices.Clone(f.Tenants), slices.Clone(f.Circuits), slices.Clone(f.Workers)
	return f, w.err
}

func (w *world) config() statuspage.Config {
	return statuspage.Config{
		Fleet: w,
		History: func() history.History {
			w.mu.Lock()
			defer w.mu.Unlock()
			h := w.history
			h.Circuits = slices.Clone(h.Circuits)
			return h
		},
		Letters: func(context.Context, int) ([]statuspage.Letter, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.letters, w.err
		},
		Loopback: true,
		About:    statuspage.About{Namespace: "weir", Version: "v1.2.3", Worker: "host-1"},
	}
}

// operated is a page whose orders the world takes down.
func (w *world) operated() statuspage.Config {
	c := w.config()
	c.Token, c.Operator = func() string { return token }, w
	return c
}

func (w *world) take(order string, args any) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders = append(w.orders, fmt.Sprintf("%s %+v", order, args))
	return "done: " + order, w.refusal
}

func (w *world) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.orders...)
}

func (w *world) Pause(_ context.Context, o statuspage.PauseOrder) (string, error) {
	return w.take("pause", o)
}
func (w *world) Resume(_ context.Context, o statuspage.Target) (string, error) {
	return w.take("resume", o)
}
func (w *world) OpenCircuit(_ context.Context, o statuspage.CircuitOrder) (string, error) {
	return w.take("open", o)
}
func (w *world) ResetCircuit(_ context.Context, o statuspage.CircuitOrder) (string, error) {
	return w.take("reset", o)
}
func (w *world) SetLimits(_ context.Context, o statuspage.LimitsOrder) (string, error) {
	text := o.Tenant
	for _, n := range []*int64{o.RPM, o.WindowMS, o.TPM} {
		if n == nil {
			text += " -"
		} else {
			text += fmt.Sprint(" ", *n)
		}
	}
	return w.take("set", text)
}
func (w *world) UnsetLimits(_ context.Context, o statuspage.Target) (string, error) {
	return w.take("unset", o)
}
func (w *world) Replay(_ context.Context, o statuspage.ReplayOrder) (string, error) {
	return w.take("replay", o)
}

func serve(t *testing.T, c statuspage.Config) *httptest.Server {
	t.Helper()
	handler, err := statuspage.Handler(c)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func ptr[T any](v T) *T { return &v }

// empty is a fleet that was just started.
func empty() *world {
	return &world{
		letters: []statuspage.Letter{},
		history: history.History{At: time.Now(), Since: time.Now(), EveryMS: 10_000, KeptMS: 3_600_000, Samples: []history.Sample{}, Circuits: []history.Circuit{}},
		fleet:   overview.Fleet{Workers: []overview.Worker{}, Circuits: []overview.Circuit{}, Tenants: []overview.Tenant{}, Dead: []overview.DeadKind{}, Pauses: []overview.Pause{}},
	}
}

// busy is a fleet with n tenants in all the states that there are.
func busy(n int) *world {
	now := time.Now().UTC()
	w := &world{history: hour(now)}
	f := &w.fleet
	f.Circuits = []overview.Circuit{{Name: "default", State: "closed"}}
	for i := range 3 {
		worker := overview.Worker{Worker: fmt.Sprintf("host-%d", i+1), Version: "v1.2.3", StartedAt: now.Add(-time.Duration(i+1) * time.Hour), At: now, State: "consuming", Slots: 8, InFlight: 3 + i, Lanes: 12, Circuit: "default", Results: 12345, Dead: 7, Nak: 40}
		f.Workers = append(f.Workers, worker)
	}
	for i := range n {
		t := overview.Tenant{Tenant: fmt.Sprintf("tenant-%04d", i), Waiting: uint64(n-i) * 7, InFlight: i % 5, RPM: 60, WindowMS: 60000, Used: ptr(int64(i % 61)), Results: ptr(uint64(i * 31)), Dead: uint64(i % 3)}
		switch i % 5 {
		case 0:
			t.Used, t.WaitUntil, t.WaitReason = ptr(int64(60)), ptr(now.Add(12*time.Second)), overview.Limit
		case 1:
			t.TPM, t.UsedTokens = 100_000, ptr(int64(i)*77)
		case 2:
			t.RPM, t.Used, t.Results, t.DocumentsWaiting = 0, nil, nil, uint64(i)
		case 3:
			t.RPM = math.MaxInt64
		}
		f.Tenants = append(f.Tenants, t)
		f.Totals.Waiting += t.Waiting
	}
	f.TenantsTotal = n
	f.Totals.InFlight, f.Totals.Results, f.Totals.Dead = 12, 1_234_567, 1042
	f.Dead = []overview.DeadKind{{Kind: "attempts_exhausted", Count: 400, LastAt: now.Add(-time.Minute)}, {Kind: "malformed", Count: 12, LastAt: now.Add(-time.Hour)}}
	f.Pauses = []overview.Pause{}
	for i := range 3 {
		w.letters = append(w.letters, statuspage.Letter{Letter: uint64(1042 - i), Tenant: "tenant-0001", Kind: "attempts_exhausted", Error: "the model server answered 503 five times: upstream connect error", FailedAt: now.Add(-time.Duration(i) * time.Minute), Document: "report-2026", Chunk: ptr(i)})
	}
	return w
}

// hour is an hour with an outage of the model in it, and one of NATS.
func hour(now time.Time) history.History {
	h := history.History{At: now, Since: now.Add(-55 * time.Minute), EveryMS: 10_000, KeptMS: 3_600_000, Samples: []history.Sample{}}
	for i := range 330 {
		at := h.Since.Add(time.Duration(i) * 10 * time.Second)
		s := history.Sample{At: at}
		if i < 200 || i > 214 {
			results, dead, waiting := uint64(30+10*math.Sin(float64(i)/20)), uint64(0), uint64(3000-5*i)
			took, age := int64(2000+1500*math.Sin(float64(i))), int64(60_000+1000*i)
			if i > 100 && i < 130 {
				results, dead = 0, 2
			}
			s.Results, s.Dead, s.Waiting, s.Workers = &results, &dead, &waiting, ptr(uint64(3))
			if results > 0 {
				s.Took, s.Age = &history.Quantiles{P50MS: took, P95MS: 3 * took, Results: results}, &history.Quantiles{P50MS: age, P95MS: age + age/2, Results: results}
			}
		}
		h.Samples = append(h.Samples, s)
	}
	h.Circuits = []history.Circuit{{Name: "default", Changes: []history.Change{
		{At: h.Since, State: "closed"}, {At: h.Since.Add(17 * time.Minute), State: "open", Reason: "503 from the model server"},
		{At: h.Since.Add(20 * time.Minute), State: "half_open"}, {At: h.Since.Add(21 * time.Minute), State: "closed"},
	}}}
	return h
}

// hostile is what anybody may have written into NATS.
func hostile() *world {
	w := busy(3)
	script := `<script>window.hacked=1</script><img src=x onerror="window.hacked=1">`
	w.fleet.Tenants[0].Tenant = script
	w.fleet.Tenants[1].Tenant = "acme\u202egpj.exe\u0000\u200f\n'; rm -rf /"
	w.fleet.Tenants[2].Tenant = strings.Repeat("long name ", 300)
	w.fleet.Tenants = append(w.fleet.Tenants, overview.Tenant{Tenant: "__proto__", Waiting: 1}, overview.Tenant{Tenant: "שלום עולם", Waiting: 2}, overview.Tenant{Tenant: "-x", Waiting: 3})
	w.fleet.Circuits = append(w.fleet.Circuits, overview.Circuit{Name: "constructor", State: script, Reason: script}, overview.Circuit{Name: "up", State: "open", OpenedAt: ptr(time.Now()), Reason: script + strings.Repeat("x", 3000)})
	w.fleet.Circuits = append(w.fleet.Circuits, overview.Circuit{Name: "a/b.c <script>window.hacked=1</script>", State: "open"})
	w.fleet.Disagreements = []overview.Disagreement{{Setting: "--rpm", Circuit: script, Values: []alive.SettingValue{{Value: "60", Worker: script, Workers: 2}, {Value: script, Worker: "b", Workers: 1}}}}
	w.fleet.Workers[0].Worker, w.fleet.Workers[0].State, w.fleet.Workers[0].Version = script, script, strings.Repeat("v", 3000)
	w.fleet.Workers[1].Problem = script
	w.fleet.Dead[0].Kind = script
	w.fleet.Pauses = []overview.Pause{{Tenant: "*", Fleet: true, Until: ptr(time.Now().Add(time.Hour)), Reason: script}}
	w.letters[0].Tenant, w.letters[0].Error, w.letters[0].Document = script, script, strings.Repeat("d\u202e", 300)
	w.history.Circuits = append(w.history.Circuits, history.Circuit{Name: "up", Changes: []history.Change{{At: time.Now(), State: script, Reason: script}}})
	return w
}
