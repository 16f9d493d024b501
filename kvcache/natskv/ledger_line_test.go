package natskv

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// TestLedgerR19SlotsAreOfTheFleet: of many who are refused at the same moment in
// several processes, each is told an instant of its own, in whatever order they get in
// line; every process knows all of them; and each comes back once, to be admitted.
func TestLedgerR19SlotsAreOfTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const processes, each = 8, 5
		q := kvcache.Quota{Window: 10 * time.Second, Requests: processes * each}
		s := &simServer{feeds: map[*simFeed]string{}}
		var clients []*simClient
		for i := range processes {
			clients = append(clients, newSimClient(s, simFaults{}, uint64(i+1)))
		}
		for range q.Requests { // one after the other
			a, err := clients[0].admit(t.Context(), q, 0, time.Second)
			require.NoError(t, err)
			require.True(t, a.Admitted)
			time.Sleep(100 * time.Millisecond)
		}
		ask := func(c *simClient, waiter string) kvcache.Admission {
			a, err := c.book.admit(t.Context(), simKey, kvcache.Ask{Quota: q, Waiter: waiter})
			require.NoError(t, err)
			return a
		}
		for _, c := range clients { // everybody follows the key by now
			_, err := c.book.peek(t.Context(), simKey, q)
			require.NoError(t, err)
		}
		before := s.appended()
		var mu sync.Mutex
		var told []time.Duration
		var waiters sync.WaitGroup
		start := time.Now()
		for i, c := range clients {
			for n := range each {
				waiters.Go(func() {
					name := fmt.Sprint("chunk ", i, ".", n)
					a := ask(c, name)
					require.False(t, a.Admitted)
					at := time.Since(start) + a.RetryAfter
					again := ask(c, name)
					require.InDelta(t, at, time.Since(start)+again.RetryAfter, float64(time.Millisecond), "and hears the same when it asks early")
					mu.Lock()
					told = append(told, at)
					mu.Unlock()
					time.Sleep(time.Until(start.Add(at)))
					require.True(t, ask(c, name).Admitted, "nobody else came for its place")
				})
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		slices.Sort(told)
		require.Len(t, told, processes*each)
		for i := 1; i < len(told); i++ {
			require.Greater(t, told[i]-told[i-1], 50*time.Millisecond, "slots %d and %d", i-1, i)
		}
		mu.Unlock()
		require.LessOrEqual(t, s.appended()-before, processes*each, "at most one entry for each who gets in line")

		// A chunk that is given to another process still has its place.
		other := ask(clients[1], "chunk 0.0")
		own := ask(clients[0], "chunk 0.0")
		require.InDelta(t, own.RetryAfter, other.RetryAfter, float64(100*time.Millisecond))

		waiters.Wait()
		for _, c := range clients {
			c.book.close()
		}
		time.Sleep(time.Second) // for what is still on its way
	})
}

// TestLedgerR19RefusedWithoutTheStore: who cannot get in line for all because the store
// does not answer is refused all the same, with a place of this process's own.
func TestLedgerR19RefusedWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simServer{feeds: map[*simFeed]string{}}
		c := newSimClient(s, simFaults{}, 1)
		defer func() {
			c.book.close()
			time.Sleep(time.Second)
		}()
		q := kvcache.Quota{Window: 10 * time.Second, Requests: 1}
		a, err := c.admit(t.Context(), q, 0, time.Second)
		require.NoError(t, err)
		require.True(t, a.Admitted)
		c.faults.lostRequest = 100
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second} {
			begin := time.Now()
			a, err = c.book.admit(ctx, simKey, kvcache.Ask{Quota: q, Waiter: fmt.Sprint(i)})
			require.NoError(t, err)
			require.False(t, a.Admitted)
			require.InDelta(t, want, time.Since(begin)+a.RetryAfter, float64(5*time.Second))
		}
	})
}
