package natskv_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

const (
	fleetURL   = "WEIR_TEST_FLEET_URL"   // set: this process is one of the fleet
	fleetUntil = "WEIR_TEST_FLEET_UNTIL" // Unix nanoseconds
	fleetLong  = "WEIR_TEST_FLEET"       // how long to run the fleet, such as 30s
)

var fleetQuota = kvcache.Quota{Window: 5 * time.Second, Requests: 50}

// TestLedgerFleetMember is one process of TestLedgerR18Fleet: eight callers that
// always have work, and sleep only when told to. It prints what it was admitted.
func TestLedgerFleetMember(t *testing.T) {
	url := os.Getenv(fleetURL)
	if url == "" {
		t.Skip("runs as a process of TestLedgerR18Fleet")
	}
	until, err := strconv.ParseInt(os.Getenv(fleetUntil), 10, 64)
	require.NoError(t, err)
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, until))
	defer cancel()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	defer nc.Close()
	c := ledgerIn(t, url, "fleet")
	var mu sync.Mutex
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for ctx.Err() == nil {
				a, err := c.Admit(ctx, "tenant", kvcache.Ask{Quota: fleetQuota, Waiter: fmt.Sprint(os.Getpid(), i)})
				switch {
				case err != nil && ctx.Err() == nil:
					t.Error(err)
					return
				case err == nil && a.Admitted:
					mu.Lock()
					fmt.Println("admitted", a.ID)
					mu.Unlock()
				case err == nil:
					select {
					case <-time.After(a.RetryAfter):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	callers.Wait()
}

// R18, with real processes: 8 of them share 50 requests per 5 s. By the
// server's stamps no span of 5 s holds more than 50, and at least 97 % of what is
// allowed is used. WEIR_TEST_FLEET=30s runs it for longer.
func TestLedgerR18Fleet(t *testing.T) {
	if os.Getenv(fleetURL) != "" {
		t.Skip("this is a member")
	}
	lasts := 14 * time.Second // three windows, with time for a busy machine in the last
	if long := os.Getenv(fleetLong); long != "" {
		var err error
		lasts, err = time.ParseDuration(long)
		require.NoError(t, err)
	} else if testing.Short() {
		t.Skip("takes 14 s")
	}
	t.Parallel()
	url := startServer(t).ClientURL()
	ledgerIn(t, url, "fleet") // makes the bucket
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	defer nc.Close()
	var mu sync.Mutex
	stamps := map[uint64]time.Time{}
	var entries int
	_, err = nc.Subscribe("$LEDGERFEED.fleet.tenant", func(m *nats.Msg) {
		seq, err1 := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		at, err2 := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
		if err1 != nil || err2 != nil {
			t.Error(err1, err2)
		}
		mu.Lock()
		defer mu.Unlock()
		stamps[seq] = at
		entries++
	})
	require.NoError(t, err)
	require.NoError(t, nc.Flush())

	until := time.Now().Add(lasts)
	var ids []uint64
	var members sync.WaitGroup
	for range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLedgerFleetMember$")
		cmd.Env = append(os.Environ(), fleetURL+"="+url, fmt.Sprintf("%s=%d", fleetUntil, until.UnixNano()))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		members.Go(func() {
			var failed []string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var id uint64
				if _, err := fmt.Sscanf(lines.Text(), "admitted %d", &id); err != nil {
					failed = append(failed, lines.Text())
					continue
				}
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err, failed)
			}
		})
	}
	members.Wait()
	require.NoError(t, nc.Flush())

	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(t, ids)
	slices.Sort(ids)
	require.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "each admission once")
	var at []time.Time
	for _, id := range ids {
		stamp, ok := stamps[id>>10]
		require.True(t, ok, "an entry %d", id>>10)
		at = append(at, stamp)
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := 50; i < len(at); i++ {
		require.GreaterOrEqual(t, at[i].Sub(at[i-50]), fleetQuota.Window, "admissions %d to %d", i-50, i)
	}
	windows := int(until.Sub(at[0])/fleetQuota.Window) + 1
	used := float64(len(at)) / float64(50*windows)
	t.Logf("%d admissions of %d in %v by 8 processes: %.1f %% used, %.2f entries per admission",
		len(at), 50*windows, until.Sub(at[0]).Round(time.Millisecond), 100*used, float64(entries)/float64(len(at)))
	require.GreaterOrEqual(t, used, 0.97)
}

var _ kvcache.Ledger = (*natskv.Cache)(nil)
