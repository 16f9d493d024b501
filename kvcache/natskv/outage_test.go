package natskv_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

const patience = 300 * time.Millisecond

// everyOperation is each operation on a cache, by name.
func everyOperation(ctx context.Context, c *natskv.Cache) map[string]func() error {
	return map[string]func() error{
		"get":        func() error { _, _, err := c.Get(ctx, "k"); return err },
		"set":        func() error { return c.Set(ctx, "k", "written during the outage", 0) },
		"increment":  func() error { _, err := c.Increment(ctx, "n", 0); return err },
		"delete":     func() error { return c.Delete(ctx, "k") },
		"record hit": func() error { return c.RecordHit(ctx, "h", time.Now(), time.Minute) },
		"count hits": func() error { _, err := c.CountHits(ctx, "h", time.Time{}); return err },
		"oldest hit": func() error { _, _, err := c.OldestHit(ctx, "h", time.Time{}); return err },
		"load":       func() error { return c.Load(ctx, []kvcache.Entry{{Key: "k"}, {Key: "l"}}) },
		"swap one": func() error {
			_, err := c.Swap(ctx, []kvcache.Change{{Key: "m", Value: "v"}})
			return err
		},
		"swap two": func() error {
			_, err := c.Swap(ctx, []kvcache.Change{{Key: "o", Value: "v"}, {Key: "p", Value: "v"}})
			return err
		},
	}
}

// requireUnavailable runs every operation, all at once, without a deadline.
func requireUnavailable(t *testing.T, c *natskv.Cache) {
	t.Helper()
	var wg sync.WaitGroup
	for name, do := range everyOperation(context.Background(), c) {
		wg.Go(func() {
			began := time.Now()
			err := do()
			took := time.Since(began)
			if err == nil {
				t.Errorf("%s did not fail", name)
				return
			}
			assert.ErrorIs(t, err, kvcache.ErrUnavailable, name)
			assert.NotErrorIs(t, err, context.DeadlineExceeded, name) // that would be the caller's
			assert.Less(t, took, patience+2*time.Second, name)
		})
	}
	wg.Wait()
}

// The server goes away and comes back with its files, on the same port.
func TestOutageOfTheServer(t *testing.T) {
	dir := t.TempDir()
	port := freePorts(t, 1)[0]
	start := func() *server.Server {
		return startServer(t, func(o *server.Options) { o.Port, o.StoreDir = port, dir })
	}
	s := start()
	js := connect(t, s.ClientURL())
	c := open(t, js, natskv.WithTimeout(patience))
	ctx := t.Context()
	require.NoError(t, c.Set(ctx, "k", "before", 0))
	at := time.Now()
	require.NoError(t, c.RecordHit(ctx, "h", at, time.Hour))
	e := []kvcache.Entry{{Key: "k"}}
	require.NoError(t, c.Load(ctx, e))

	s.Shutdown()
	s.WaitForShutdown()
	require.Eventually(t, func() bool { return !js.Conn().IsConnected() }, 10*time.Second, time.Millisecond)
	requireUnavailable(t, c)

	start()
	require.Eventually(t, func() bool {
		_, _, err := c.Get(ctx, "k")
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	// Nothing that failed was kept back and written after all.
	value, _, err := c.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "before", value)
	n, err := c.CountHits(ctx, "h", at)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	swapped, err := c.Swap(ctx, []kvcache.Change{{Key: "k", Version: e[0].Version, Value: "after"}})
	require.NoError(t, err)
	require.True(t, swapped)
}

// The connection stands but nobody answers.
func TestOutageWithoutAWord(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.Addr().String())
	c := open(t, connect(t, "nats://"+p.address()), natskv.WithTimeout(patience))
	require.NoError(t, c.Set(t.Context(), "k", "v", 0))
	require.NoError(t, c.RecordHit(t.Context(), "h", time.Now(), time.Minute))
	p.freeze()
	requireUnavailable(t, c)

	// A caller that waits for less is served sooner, and told so.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, _, err := c.Get(ctx, "k")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
}

func TestOpenWithoutAStore(t *testing.T) {
	t.Run("no JetStream", func(t *testing.T) {
		s := startServer(t, func(o *server.Options) { o.JetStream = false })
		_, err := natskv.Open(t.Context(), connect(t, s.ClientURL()), "b", natskv.WithTimeout(patience))
		require.Error(t, err)
	})
	t.Run("nobody there", func(t *testing.T) {
		s := startServer(t)
		js := connect(t, s.ClientURL())
		s.Shutdown()
		began := time.Now()
		_, err := natskv.Open(context.Background(), js, "b", natskv.WithTimeout(patience))
		require.ErrorIs(t, err, kvcache.ErrUnavailable)
		require.Less(t, time.Since(began), 10*time.Second)
	})
	t.Run("connection closed", func(t *testing.T) {
		js := connect(t, startServer(t).ClientURL())
		c := open(t, js)
		js.Conn().Close()
		_, _, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, kvcache.ErrUnavailable)
		require.ErrorIs(t, err, nats.ErrConnectionClosed)
	})
}

// A value that the server would not take is the caller's mistake, not an outage.
func TestTooLargeIsNotAnOutage(t *testing.T) {
	c := open(t, connect(t, startServer(t).ClientURL()))
	err := c.Set(t.Context(), "k", string(make([]byte, 2<<20)), 0)
	require.Error(t, err)
	require.NotErrorIs(t, err, kvcache.ErrUnavailable)
}

// A full bucket says so, and keeps what it has.
func TestFullBucket(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	_, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "full", MaxBytes: 1000})
	require.NoError(t, err)
	c, err := natskv.Open(ctx, js, "full")
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "k", "v", 0))
	err = c.Set(ctx, "large", string(make([]byte, 2000)), 0)
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	require.ErrorContains(t, err, "maximum")
	value, _, err := c.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "v", value)
}

// proxy passes bytes on until it is frozen.
type proxy struct {
	l      net.Listener
	mu     sync.Mutex
	frozen bool
	conns  []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{l: l}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			go p.pass(in, out)
			go p.pass(out, in)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.conns {
			_ = c.Close()
		}
	})
	return p
}

func (p *proxy) address() string { return p.l.Addr().String() }

func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
}

func (p *proxy) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if err != nil {
			_ = to.Close()
			return
		}
		if frozen {
			continue // swallowed
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
