package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// model is the window as one would explain it: a list, counted from scratch.
type model struct {
	takes []take
	cool  int64
}

type take struct {
	id         uint64
	at, tokens int64
	back       bool
}

func (m *model) held(now int64, span time.Duration) (requests, tokens int64) {
	for _, t := range m.takes {
		if !t.back && t.at > now-int64(span) {
			requests++
			tokens += t.tokens
		}
	}
	return requests, tokens
}

func (m *model) fits(now int64, q ledger.Quota, tokens int64) bool {
	r, tk := m.held(now, q.Window)
	return now >= m.cool && (q.Requests == 0 || r+1 <= q.Requests) && (q.Tokens == 0 || tk+tokens <= q.Tokens)
}

func (m *model) opens(now int64, q ledger.Quota, tokens int64) int64 {
	for ; ; now++ {
		if m.fits(now, q, tokens) {
			return now
		}
	}
}

func anyQuota(t *rapid.T) ledger.Quota {
	return ledger.Quota{
		Window:   time.Duration(rapid.Int64Range(1, 40).Draw(t, "window")),
		Requests: rapid.Int64Range(0, 6).Draw(t, "requests"),
		Tokens:   rapid.SampledFrom([]int64{0, 10, 50}).Draw(t, "tokens"),
	}
}

// R18, R19: whatever is taken, settled, taken back and cooled, and by whatever
// quota and instant it is asked, the window answers like the list.
func TestR18WindowAnswersLikeTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w ledger.Window
		var m model
		w.Keep(40)
		now, id := int64(0), uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				q := anyQuota(t)
				// Questions may come from behind: a guess of the time is not the time.
				at := max(0, now-rapid.Int64Range(0, 5).Draw(t, "behind"))
				if at < now && at-int64(q.Window) < now-40 {
					at = now // further back than the window keeps
				}
				requests, tokens := w.Held(at, q.Window)
				r, tk := m.held(at, q.Window)
				require.Equal(t, []int64{r, tk}, []int64{requests, tokens})
				cost := rapid.Int64Range(0, 10).Draw(t, "cost")
				require.Equal(t, m.fits(at, q, cost), w.Fits(at, q, cost))
				require.Equal(t, m.opens(at, q, cost), w.Opens(at, q, cost))
			},
			"pass": func(t *rapid.T) { now += rapid.Int64Range(0, 15).Draw(t, "passed") },
			"take": func(t *rapid.T) {
				id++
				tokens := rapid.Int64Range(0, 10).Draw(t, "tokens")
				w.Add(id, now, tokens)
				m.takes = append(m.takes, take{id: id, at: now, tokens: tokens})
			},
			"settle": func(t *rapid.T) {
				if len(m.takes) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(m.takes)-1).Draw(t, "which")
				tokens := rapid.Int64Range(0, 20).Draw(t, "tokens")
				w.Settle(m.takes[i].id, tokens)
				m.takes[i].tokens = tokens
			},
			"back": func(t *rapid.T) {
				if len(m.takes) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(m.takes)-1).Draw(t, "which")
				w.Refund(m.takes[i].id)
				m.takes[i].back = true
			},
			"cool": func(t *rapid.T) {
				until := now + rapid.Int64Range(-3, 20).Draw(t, "for")
				w.Cool(until)
				m.cool = max(m.cool, until)
			},
		})
	})
}

// R18: takes that are added first and judged afterwards, the way a log is read,
// are judged as if each had been asked at its own instant; what has been
// added behind them does not matter.
func TestR18JudgedAfterwardsLikeAskedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anyQuota(t)
		var w ledger.Window
		var m model
		w.Keep(q.Window + 10) // nobody reads later than 10
		var waiting []take
		now := int64(0)
		judge := func() {
			next := waiting[0]
			waiting = waiting[1:]
			want := m.fits(next.at, q, next.tokens)
			require.Equal(t, want, w.Judge(next.id, q))
			if want {
				m.takes = append(m.takes, next)
			} else {
				w.Refund(next.id)
			}
		}
		for id := range uint64(rapid.IntRange(1, 40).Draw(t, "takes")) {
			now += rapid.Int64Range(0, 10).Draw(t, "passed")
			for len(waiting) > 0 && waiting[0].at < now-10 {
				judge()
			}
			next := take{id: id + 1, at: now, tokens: rapid.Int64Range(0, 10).Draw(t, "tokens")}
			w.Add(next.id, next.at, next.tokens)
			waiting = append(waiting, next)
			for len(waiting) > 0 && rapid.Bool().Draw(t, "judge") {
				judge()
			}
		}
		for len(waiting) > 0 {
			judge()
		}
	})
}

// R18: an instant that goes back makes no room.
func TestR18StampsThatGoBackMakeNoRoom(t *testing.T) {
	var w ledger.Window
	q := ledger.Quota{Window: 10, Requests: 1}
	w.Keep(10)
	w.Add(1, 100, 0)
	w.Add(2, 50, 0)
	require.False(t, w.Judge(2, q))
	require.EqualValues(t, 110, w.Opens(100, q, 0))
}

// What is asked never makes the window forget, and what has left it does not
// stay for ever.
func TestWindowForgetsByWhatIsAddedOnly(t *testing.T) {
	var w ledger.Window
	q := ledger.Quota{Window: 10, Requests: 3}
	w.Keep(10)
	for i := range 3 {
		w.Add(uint64(i+1), 100, 0)
	}
	require.True(t, w.Fits(1_000_000, q, 0), "by a clock far ahead")
	require.False(t, w.Fits(109, q, 0), "by the right one")
	require.False(t, w.Empty(109))
	require.True(t, w.Empty(110))
	w.Add(9, 110, 0)
	_, ok := w.At(1)
	require.False(t, ok)
}

// R19: slots are in the order of asking, each waiter keeps its own, those that
// come at theirs all get in, and none is earlier than it could be.
func TestR19SlotsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := ledger.Quota{Window: 20, Requests: rapid.Int64Range(1, 4).Draw(t, "requests"),
			Tokens: rapid.SampledFrom([]int64{0, 20}).Draw(t, "tokens")}
		var w ledger.Window
		var line ledger.Line
		w.Keep(q.Window)
		now, id := int64(100), uint64(0)
		for range rapid.IntRange(4, 10).Draw(t, "before") {
			id++
			now += rapid.Int64Range(0, 5).Draw(t, "passed")
			if tokens := rapid.Int64Range(0, 10).Draw(t, "cost"); w.Fits(now, q, tokens) {
				w.Add(id, now, tokens)
			}
		}
		costs := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 12).Draw(t, "costs")
		var refused, slots []int64
		for _, cost := range costs {
			if w.Fits(now, q, cost) {
				id++
				w.Add(id, now, cost)
				continue
			}
			slots = append(slots, line.Slot(&w, now, q, cost, fmt.Sprint(len(slots))))
			refused = append(refused, cost)
		}
		for i, cost := range refused {
			if slots[i] >= w.Opens(now, q, cost) { // nobody was let in past it
				require.Equal(t, slots[i], line.Slot(&w, now, q, cost, fmt.Sprint(i)), "asked again")
			}
		}
		for i := range refused {
			if i > 0 {
				require.GreaterOrEqual(t, slots[i], slots[i-1])
			}
		}
		if len(refused) < len(costs) {
			return // somebody may have been let in past those who wait
		}
		for i, cost := range refused {
			require.True(t, w.Fits(slots[i], q, cost), "waiter %d at its slot", i)
			if i == 0 || slots[i] > slots[i-1] {
				require.False(t, w.Fits(slots[i]-1, q, cost), "waiter %d could have come earlier", i)
			}
			id++
			w.Add(id, slots[i], cost)
		}
		require.True(t, line.Empty(slots[len(slots)-1]))
	})
}

func TestLineIsBounded(t *testing.T) {
	var w ledger.Window
	var line ledger.Line
	q := ledger.Quota{Window: 10, Requests: 1}
	w.Keep(10)
	w.Add(1, 0, 0)
	last := int64(0)
	for i := range 8192 {
		last = line.Slot(&w, 0, q, 0, fmt.Sprint(i))
	}
	require.EqualValues(t, 81920, last)
	require.EqualValues(t, 81930, line.Slot(&w, 0, q, 0, "one more"))
	require.EqualValues(t, 81930, line.Slot(&w, 0, q, 0, "and another"), "told the same, not kept")
	require.EqualValues(t, 10, line.Slot(&w, 0, q, 0, ""), "without a name: as if nobody else asked")
	line.Leave("0")
	require.EqualValues(t, 81930, line.Slot(&w, 0, q, 0, "in its place"))
	require.EqualValues(t, 81940, line.Slot(&w, 0, q, 0, "behind it"))
}

func BenchmarkWindow(b *testing.B) {
	for _, limit := range []int64{10, 10_000} {
		b.Run(fmt.Sprint(limit), func(b *testing.B) {
			q := ledger.Quota{Window: time.Duration(limit), Requests: limit}
			var w ledger.Window
			w.Keep(q.Window)
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				if !w.Fits(i, q, 0) {
					b.Fatal("full")
				}
				w.Add(uint64(i), i, 0)
			}
		})
	}
}
