package natskv_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// A process that knows nothing yet reads the window once: each entry comes once,
// however long it takes.
func TestLedgerColdStart(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	const n = 10_000
	q := perMinute(n + 1)
	admit(t, ledgerIn(t, url, "cold", natskv.WithTimeout(5*time.Second)), "other", q) // makes the stream
	fill(t, url, "$LEDGER.cold.k", n)
	c, conn := ledgerAndConn(t, url, "cold", natskv.WithTimeout(5*time.Second))
	before := conn.Stats()
	began := time.Now()
	require.Eventually(t, func() bool { // on a busy machine it may take more than one timeout
		s, err := c.Peek(context.Background(), "k", q)
		return err == nil && s.Requests == n
	}, time.Minute, time.Millisecond)
	took, stats := time.Since(began), conn.Stats()
	t.Logf("first look at a window of %d: %v, %d kB in %d messages", n, took, (stats.InBytes-before.InBytes)/1000, stats.InMsgs-before.InMsgs)
	require.Less(t, stats.InMsgs-before.InMsgs, uint64(n+n/10))
	require.True(t, admit(t, c, "k", q).Admitted)
	require.False(t, admit(t, c, "k", q).Admitted)
}

// fill takes n requests from a window, each by an entry of its own.
func fill(t testing.TB, url, subject string, n int) {
	t.Helper()
	js := connect(t, url)
	for i := range n {
		m := nats.NewMsg(subject)
		m.Header.Set("Nats-TTL", "70")
		m.Data = []byte("take 0\n")
		_, err := js.PublishMsgAsync(m)
		require.NoError(t, err)
		if i%1000 == 999 {
			<-js.PublishAsyncComplete()
		}
	}
	<-js.PublishAsyncComplete()
}

// What an admission costs does not depend on the limit, and is one round trip.
func TestLedgerCostIsIndependentOfTheLimit(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	bytes := map[int64]float64{}
	for _, limit := range []int64{10, 10_000} {
		q := kvcache.Quota{Window: 200 * time.Millisecond, Requests: limit}
		if limit > 10 {
			q.Window = time.Minute
		}
		c, conn := ledgerAndConn(t, url, "cost")
		key := fmt.Sprint("k", limit)
		admit(t, c, key, q)
		if limit > 10 { // a window that is half full
			fill(t, url, "$LEDGER.cost."+key, 5_000)
			admit(t, c, key, q)
		}
		admitted := 0.0
		before := conn.Stats()
		for admitted < 100 {
			a := admit(t, c, key, q)
			if a.Admitted {
				admitted++
			} else {
				time.Sleep(a.RetryAfter)
			}
		}
		stats := conn.Stats()
		bytes[limit] = float64(stats.InBytes-before.InBytes+stats.OutBytes-before.OutBytes) / admitted
		requests := float64(stats.OutMsgs-before.OutMsgs) / admitted
		t.Logf("limit %d: %.0f bytes and %.2f requests per admission", limit, bytes[limit], requests)
		require.LessOrEqual(t, requests, 1.5)
	}
	require.Less(t, bytes[10_000]/bytes[10], 1.5)
	require.Less(t, bytes[10]/bytes[10_000], 1.5)
}

// Callers of one process that ask at the same time share a round trip.
func TestLedgerCallersShareARoundTrip(t *testing.T) {
	t.Parallel()
	c, conn := ledgerAndConn(t, startServer(t).ClientURL(), "share")
	q := perMinute(100_000)
	admit(t, c, "k", q)
	before := conn.Stats().OutMsgs
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 50 {
				if a, err := c.Admit(context.Background(), "k", kvcache.Ask{Quota: q}); err != nil || !a.Admitted {
					t.Error(a, err)
				}
			}
		})
	}
	wg.Wait()
	requests := conn.Stats().OutMsgs - before
	t.Logf("%d requests for 1600 admissions by 32 callers", requests)
	require.Less(t, requests, uint64(400))
}

// A refusal that the log proves asks nobody.
func TestLedgerRefusesWithoutAsking(t *testing.T) {
	t.Parallel()
	c, conn := ledgerAndConn(t, startServer(t).ClientURL(), "refuse")
	admit(t, c, "k", perMinute(1))
	before := conn.Stats().OutMsgs
	for range 100 {
		require.False(t, admit(t, c, "k", perMinute(1)).Admitted)
	}
	require.Equal(t, before, conn.Stats().OutMsgs)
}

func BenchmarkLedgerAdmit(b *testing.B) {
	url := startServer(b).ClientURL()
	q := perMinute(1e9)
	run := func(name string, processes, callers int) {
		b.Run(name, func(b *testing.B) {
			pool := make(chan *natskv.Cache, callers)
			var c *natskv.Cache
			for i := range callers {
				if i < processes {
					c = ledgerIn(b, url, "bench")
					admit(b, c, name, q)
				}
				pool <- c
			}
			b.SetParallelism(callers) // at least that many
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				c := <-pool
				defer func() { pool <- c }()
				for pb.Next() {
					if a, err := c.Admit(context.Background(), name, kvcache.Ask{Quota: q}); err != nil || !a.Admitted {
						b.Error(a, err)
						return
					}
				}
			})
		})
	}
	run("1caller", 1, 1)
	run("32callers", 1, 32)
	run("8processes", 8, 8)
}
