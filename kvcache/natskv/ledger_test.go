package natskv_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/cachetest"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// ledgerIn returns a cache of a process of its own in a bucket.
func ledgerIn(t testing.TB, url, bucket string, opts ...natskv.Option) *natskv.Cache {
	t.Helper()
	c, _ := ledgerAndConn(t, url, bucket, opts...)
	return c
}

func ledgerAndConn(t testing.TB, url, bucket string, opts ...natskv.Option) (*natskv.Cache, *nats.Conn) {
	t.Helper()
	js := connect(t, url)
	c, err := natskv.Open(context.Background(), js, bucket, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, js.Conn()
}

// openLedger returns a cache whose stream is there already: servers that are
// busy with other tests may take longer to make one than an operation may take.
func openLedger(t *testing.T, js jetstream.JetStream, opts ...natskv.Option) *natskv.Cache {
	t.Helper()
	c := open(t, js, append(opts, natskv.WithTimeout(5*time.Second))...)
	require.Eventually(t, func() bool {
		_, err := c.Peek(t.Context(), "warm", perMinute(1))
		return err == nil
	}, time.Minute, time.Millisecond)
	return c
}

func perMinute(requests int64) kvcache.Quota {
	return kvcache.Quota{Window: time.Minute, Requests: requests}
}

func admit(t testing.TB, c *natskv.Cache, key string, q kvcache.Quota) kvcache.Admission {
	t.Helper()
	a, err := c.Admit(context.Background(), key, kvcache.Ask{Quota: q})
	require.NoError(t, err)
	return a
}

// R12: the suite, on one server with either storage, and on a cluster of three.
func TestLedgerCompliance(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) cachetest.Open{
		"file": func(t *testing.T) cachetest.Open {
			js := connect(t, startServer(t).ClientURL())
			return func(t *testing.T) kvcache.Cache { return openLedger(t, js) }
		},
		"memory": func(t *testing.T) cachetest.Open {
			js := connect(t, startServer(t).ClientURL())
			return func(t *testing.T) kvcache.Cache {
				return openLedger(t, js, natskv.WithStorage(jetstream.MemoryStorage))
			}
		},
		"cluster": func(t *testing.T) cachetest.Open {
			js := connect(t, startCluster(t, 3)[0].ClientURL())
			return func(t *testing.T) kvcache.Cache { return openLedger(t, js, natskv.WithReplicas(3)) }
		},
		"two processes in turns": func(t *testing.T) cachetest.Open {
			url := startServer(t).ClientURL()
			var n atomic.Int64
			return func(t *testing.T) kvcache.Cache {
				bucket := fmt.Sprintf("turns%d", n.Add(1))
				patient := natskv.WithTimeout(5 * time.Second)
				return &ledgerTurns{Cache: ledgerIn(t, url, bucket, patient), other: ledgerIn(t, url, bucket, patient)}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened := open(t)
			t.Run("suite", func(t *testing.T) { cachetest.RunLedger(t, opened) })
		})
	}
}

// ledgerTurns is two processes, of which every question goes to the other one
// than that before.
type ledgerTurns struct {
	*natskv.Cache
	other *natskv.Cache
	n     atomic.Int64
}

func (l *ledgerTurns) next() *natskv.Cache {
	if l.n.Add(1)%2 == 0 {
		return l.other
	}
	return l.Cache
}

func (l *ledgerTurns) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	c := l.next()
	// A process may refuse by what it knew a moment ago.
	if _, err := c.Peek(ctx, key, perMinute(1)); err != nil {
		return kvcache.Admission{}, err
	}
	return c.Admit(ctx, key, ask)
}

func (l *ledgerTurns) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	return l.next().Settle(ctx, key, id, tokens)
}

func (l *ledgerTurns) Cool(ctx context.Context, key string, d time.Duration) error {
	return l.next().Cool(ctx, key, d)
}

func (l *ledgerTurns) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	return l.next().Peek(ctx, key, q)
}

func (l *ledgerTurns) Close() error {
	if err := l.other.Close(); err != nil {
		return err
	}
	return l.Cache.Close()
}

// R18 with N processes that all ask at once: exactly the quota.
func TestLedgerR18ManyProcessesAtOnce(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	const processes, callers, quota = 8, 8, 37
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for range processes {
		c := ledgerIn(t, url, "race")
		for range callers {
			wg.Go(func() {
				a, err := c.Admit(context.Background(), "k", kvcache.Ask{Quota: perMinute(quota)})
				switch {
				case err != nil:
					t.Error(err)
				case a.Admitted:
					admitted.Add(1)
				default:
					refused.Add(1)
				}
			})
		}
	}
	wg.Wait()
	require.EqualValues(t, quota, admitted.Load(), "of %d", processes*callers)
	require.EqualValues(t, processes*callers-quota, refused.Load())
	s, err := ledgerIn(t, url, "race").Peek(context.Background(), "k", perMinute(quota))
	require.NoError(t, err)
	require.EqualValues(t, quota, s.Requests, "refusals were given back")
}

// R18: a client whose clock jumps by 10 s either way gets nothing out of it.
func TestLedgerR18ClockJumpsAddNothing(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	var jump atomic.Int64
	wild := ledgerIn(t, url, "jump", natskv.WithClock(func() time.Time { return time.Now().Add(time.Duration(jump.Load())) }))
	sound := ledgerIn(t, url, "jump")
	q := kvcache.Quota{Window: 5 * time.Second, Requests: 10}
	admitted := 0
	for i := range 60 {
		jump.Store(int64([]time.Duration{0, 10 * time.Second, -10 * time.Second}[i%3]))
		if admit(t, wild, "k", q).Admitted {
			admitted++
		}
		if i%10 == 0 && admit(t, sound, "k", q).Admitted {
			admitted++
		}
	}
	require.Equal(t, 10, admitted)
}

// A caller that gives up takes nothing, whenever it does.
func TestLedgerCancelledCallersTakeNothing(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	c := ledgerIn(t, url, "cancel")
	admit(t, c, "k", perMinute(1000))
	taken := int64(1)
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*2*time.Microsecond)
		a, err := c.Admit(ctx, "k", kvcache.Ask{Quota: perMinute(1000)})
		cancel()
		if err == nil && a.Admitted {
			taken++
		}
	}
	require.Eventually(t, func() bool {
		s, err := c.Peek(context.Background(), "k", perMinute(1000))
		return err == nil && s.Requests == taken
	}, 5*time.Second, 10*time.Millisecond)
}

// What a process has missed while it was cut off is found out from the next
// entry, and read.
func TestLedgerNoticesWhatItHasMissed(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	deaf, conn := ledgerAndConn(t, s.ClientURL(), "missed")
	other := ledgerIn(t, s.ClientURL(), "missed")
	q := perMinute(10)
	admit(t, deaf, "k", q)
	require.NoError(t, conn.ForceReconnect())
	for range 8 {
		admit(t, other, "k", q)
	}
	require.Eventually(t, conn.IsConnected, 5*time.Second, time.Millisecond)
	require.True(t, admit(t, deaf, "k", q).Admitted)
	require.False(t, admit(t, deaf, "k", q).Admitted, "10 have been admitted")
	require.False(t, admit(t, other, "k", q).Admitted)
}

// A server that is killed and started again with its files keeps the window.
func TestLedgerSurvivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(o *server.Options) { o.StoreDir = dir }
	s := startServer(t, at)
	port := s.Addr().String()
	c := ledgerIn(t, s.ClientURL(), "restart", natskv.WithTimeout(2*time.Second))
	for range 3 {
		require.True(t, admit(t, c, "k", perMinute(4)).Admitted)
	}
	s.Shutdown()
	s.WaitForShutdown()

	began := time.Now()
	_, err := c.Admit(context.Background(), "k", kvcache.Ask{Quota: perMinute(4)})
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	require.Less(t, time.Since(began), 5*time.Second)
	_, err = c.Peek(context.Background(), "k", perMinute(4))
	require.ErrorIs(t, err, kvcache.ErrUnavailable)

	startServer(t, at, func(o *server.Options) { _, _ = fmt.Sscanf(port, "127.0.0.1:%d", &o.Port) })
	require.Eventually(t, func() bool {
		a, err := c.Admit(context.Background(), "k", kvcache.Ask{Quota: perMinute(4)})
		return err == nil && a.Admitted
	}, 10*time.Second, 20*time.Millisecond)
	require.False(t, admit(t, c, "k", perMinute(4)).Admitted)
}

func TestLedgerStreamThatWillNotDo(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "LEDGER_odd", Subjects: []string{"$LEDGER.odd.*"}, AllowDirect: true, AllowMsgTTL: true, MaxAge: time.Hour})
	require.NoError(t, err)
	c, err := natskv.Open(t.Context(), js, "odd")
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.Admit(t.Context(), "k", kvcache.Ask{Quota: perMinute(1)})
	var mismatch *natskv.MismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "max_age", mismatch.Field)
	require.NotErrorIs(t, err, kvcache.ErrUnavailable)
}

// Closing leaves nothing behind on the connection, which stays open.
func TestLedgerR7CloseLeavesTheConnectionAlone(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	before := js.Conn().NumSubscriptions()
	c, err := natskv.Open(t.Context(), js, "close")
	require.NoError(t, err)
	for i := range 10 {
		admit(t, c, fmt.Sprint("k", i), perMinute(1000))
	}
	require.Greater(t, js.Conn().NumSubscriptions(), before+9)
	require.NoError(t, c.Close())
	require.LessOrEqual(t, js.Conn().NumSubscriptions(), before+1, "the one for answers may stay")
	require.True(t, js.Conn().IsConnected())
}

// The layout is documented: who reads the stream sees what was said, in order.
func TestLedgerLayout(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	c, err := natskv.Open(t.Context(), js, "layout")
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	a, err := c.Admit(t.Context(), "acme", kvcache.Ask{Quota: perMinute(5), Tokens: 120})
	require.NoError(t, err)
	require.NoError(t, c.Settle(t.Context(), "acme", a.ID, 90))
	require.NoError(t, c.Cool(t.Context(), "acme", 30*time.Second))
	s, err := js.Stream(t.Context(), "LEDGER_layout")
	require.NoError(t, err)
	first := s.CachedInfo().State.FirstSeq
	require.WithinDuration(t, time.Now(), time.UnixMicro(int64(first)), time.Minute, "sequences begin at the time")
	for i, want := range []string{"take 120\n", fmt.Sprintf("used %d.0 90\n", first), "cool 30s\n"} {
		m, err := s.GetMsg(t.Context(), first+uint64(i))
		require.NoError(t, err)
		require.Equal(t, "$LEDGER.layout.acme", m.Subject)
		require.Equal(t, want, string(m.Data))
		require.Equal(t, "71", m.Header.Get("Nats-TTL"), "a minute, its slack and 10 s")
	}
}
