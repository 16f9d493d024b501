package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
)

var topNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func soonest(d time.Duration) *time.Time { at := topNow.Add(d); return &at }

func counted[T any](n T) *T { return &n }

const hostileName = "\x1b[2Jevil\r\n\u202egnp"

func topFleet() overview.Fleet {
	f := overview.Fleet{
		At: topNow,
		Workers: []overview.Worker{
			{Worker: "host-1", State: "consuming", Slots: 8, InFlight: 3, RPM: 50, WindowMS: 5000, StartedAt: topNow.Add(-time.Hour), Results: 7},
			{Worker: "host-2", State: "waiting", Problem: "bucket weir_circuit is gone", Slots: 8, RPM: 60, WindowMS: 5000},
			{Worker: "host-3", State: "stopped", Slots: 8, RPM: 10},
		},
		UnreadableWorkers: 1,

		Circuits: []overview.Circuit{{Name: "default", State: "open", OpenedAt: soonest(-time.Minute), NextProbeAt: soonest(42 * time.Second), Reason: "502 Bad Gateway"}},
		Tenants: []overview.Tenant{
			{Tenant: "acme", Waiting: 12_345, InFlight: 3, RPM: 60, WindowMS: 60_000, Used: counted[int64](60), WaitUntil: soonest(12 * time.Second), WaitReason: overview.Limit, Results: counted[uint64](7)},
			{Tenant: hostileName, Waiting: 2, WaitReason: overview.Open},
			{Tenant: "globex", Dead: 4, RPM: 10},
		},
		TenantsTotal: 3,
		Totals:       overview.Totals{Waiting: 12_347, InFlight: 3, Results: 7, Dead: 4},
		Dead:         []overview.DeadKind{{Kind: "malformed", Count: 4, LastAt: topNow.Add(-time.Minute)}},
		Pauses:       []overview.Pause{{Tenant: "globex", Until: soonest(time.Hour), Reason: "too dear"}},
	}
	f.Disagreements = alive.Disagreements(f.Workers)
	return f
}

func texts(lines []screen.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestTopSaysHowTheFleetIs(t *testing.T) {
	v := newTopView("weir", byWaiting, "")
	require.Contains(t, texts(v.lines(80, 24)), "looking...")
	before := topFleet()
	before.At = topNow.Add(-2 * time.Second)
	before.Totals.Results = 2
	v.take(before)
	v.take(topFleet())
	shown := texts(v.lines(132, 24))
	for _, want := range []string{
		"2 workers (1 consuming, 1 waiting), 3 of 16 slots, 1 stopped, 1 unreadable", "waiting 12347, given out 3", "results 7 (2.5/s)  dead 4",
		"circuit default is open since 2026-01-02T03:03:05Z, next probe in 42s: 502 Bad Gateway",
		"tenant globex is paused until 2026-01-02T04:04:05Z: too dear", "malformed 4 (60s ago)",
		"workers were started with different --rpm: 50 (host-1), 60 (host-2)",
		"60/60", "limit 12s", "12k", "1-3 of 3 tenants, by waiting (*)",
	} {
		require.Contains(t, shown, want)
	}
	require.Equal(t, 24, len(v.lines(132, 24)))
	v.press(screen.Tab, 24)
	shown = texts(v.lines(132, 24))
	require.Contains(t, shown, "host-1  consuming  3 of 8 slots  up 60m  results 7  dead 0  put back 0")
	require.Contains(t, shown, "bucket weir_circuit is gone")

	v.press('l', 24)
	legend := v.lines(80, 24)
	for _, c := range columns {
		require.Contains(t, texts(legend), c.title+" ")
		require.NotEmpty(t, c.means)
	}
	require.LessOrEqual(t, len(legend), 24)
	for _, line := range legend {
		require.LessOrEqual(t, len(line.Text), 80, "fits an ordinary terminal")
	}
	v.press('x', 24)

	v.problem = errors.New("nats: timeout")
	require.Contains(t, texts(v.lines(80, 24)), "nats: timeout, figures of 03:04:05")
	v.problem = errDisconnected
	require.Contains(t, texts(v.lines(80, 24)), "not connected to NATS, figures of 03:04:05")
}

// No size of a terminal and no name breaks the picture, or is a command to it.
func TestTopFitsEveryTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fleet := topFleet()
		for i := range rapid.IntRange(0, 30).Draw(t, "tenants") {
			fleet.Tenants = append(fleet.Tenants, overview.Tenant{
				Tenant: rapid.String().Draw(t, "name"), Waiting: rapid.Uint64().Draw(t, "waiting"), RPM: int64(i), Used: counted(rapid.Int64().Draw(t, "used")),
				WaitUntil: soonest(time.Duration(rapid.Int64().Draw(t, "wait"))), WaitReason: overview.Cooling,
			})
		}
		fleet.Circuits[0].Name = rapid.String().Draw(t, "circuit")
		v := newTopView("weir", byWaiting, "")
		v.take(fleet)
		width, height := rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		for range 5 {
			key := rapid.SampledFrom([]screen.Key{screen.Tab, screen.PageDown, screen.End, screen.Up, 'u', 'w', '/', 'x', screen.Escape, '?', 'l'}).Draw(t, "key")
			require.False(t, v.press(key, height))
		}
		lines := v.lines(width, height)
		if v.read == nil {
			require.LessOrEqual(t, len(lines), height)
		}
		for _, line := range lines {
			if line.Style == screen.Heading && !v.workers {
				require.LessOrEqual(t, screen.Width(line.Text), max(width, leastName))
			}
		}
		for line := range strings.Lines(v.block(10)) {
			line = strings.TrimSuffix(line, "\n")
			require.False(t, strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }), "%q", line)
		}
	})
}

func TestTopAtFortyColumns(t *testing.T) {
	v := newTopView("weir", byWaiting, "")
	v.take(topFleet())
	require.Equal(t, "TENANT     CHUNKS* WAIT             USED", tableHead(40, byWaiting))
	require.Equal(t, "acme           12k limit 12s       60/60", tableRow(40, v.fleet.Tenants[0], topNow))
	require.Equal(t, `"\x1b[2Je…       2 circuit             -`, tableRow(40, v.fleet.Tenants[1], topNow))
}

func TestTopSortsFiltersAndScrolls(t *testing.T) {
	fleet := topFleet()
	fleet.Tenants = nil
	for i := range 100 {
		fleet.Tenants = append(fleet.Tenants, overview.Tenant{Tenant: fmt.Sprintf("tenant-%02d", i), Waiting: uint64(i), Dead: uint64(100 - i), RPM: 100, Used: counted(int64(i % 10))})
	}
	v := newTopView("weir", byWaiting, "")
	v.take(fleet)
	first := func() string {
		for i, l := range v.lines(80, 24) {
			if l.Style == screen.Heading {
				return strings.Fields(v.lines(80, 24)[i+1].Text)[0]
			}
		}
		return ""
	}
	require.Equal(t, "tenant-99", first())
	for key, want := range map[screen.Key]string{'d': "tenant-00", 'n': "tenant-00", 'u': "tenant-09", 'b': "tenant-99"} {
		v.press(key, 24)
		require.Equal(t, want, first(), "%c", key)
	}
	v.press('b', 24)
	v.press(screen.Down, 24)
	require.Equal(t, "tenant-98", first())
	v.press(screen.End, 24)
	require.NotEqual(t, "tenant-00", first(), "the last page is full")
	require.Contains(t, texts(v.lines(80, 24)), "tenant-00")
	v.press(screen.Home, 24)
	for _, key := range "/T-1" {
		v.press(screen.Key(key), 24)
	}
	require.Contains(t, texts(v.lines(80, 24)), "filter: T-1_")
	require.Equal(t, "tenant-19", first())
	v.press('q', 24) // is typed
	v.press(screen.Backspace, 24)
	v.press(screen.Enter, 24)
	require.Contains(t, texts(v.lines(80, 24)), `1-10 of 10 tenants, by waiting (*), with "T-1"`)
	v.press(screen.Escape, 24)
	require.Contains(t, texts(v.lines(80, 24)), "of 100 tenants")
	require.True(t, v.press('q', 24))
	require.True(t, v.press(screen.Interrupt, 24))
}

func TestAmountsAndDurationsAreShort(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 9999: "9999", 12_345: "12k", 999_999: "1000k", 1_234_567: "1.2M", 1 << 63: "9.2E"} {
		require.Equal(t, want, amount(n))
	}
	for d, want := range map[time.Duration]string{-1: "0s", 1: "1ms", time.Second: "1s", 1100 * time.Millisecond: "2s", 3 * time.Minute: "3m", 5 * time.Hour: "5h", 72 * time.Hour: "3d"} {
		require.Equal(t, want, short(d))
	}
}

func BenchmarkTopLinesOfAThousandTenants(b *testing.B) {
	fleet := topFleet()
	for i := range 1000 {
		fleet.Tenants = append(fleet.Tenants, overview.Tenant{Tenant: fmt.Sprint("tenant-", i), Waiting: uint64(i)})
	}
	v := newTopView("weir", byWaiting, "")
	v.take(fleet)
	for b.Loop() {
		v.lines(120, 40)
	}
}
