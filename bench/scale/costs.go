package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// costs are what single steps take of a processor, server and client together,
// over loopback with the server in this process.
type costs struct {
	signal    time.Duration // one message to one more subscriber
	emptyPull time.Duration // a pull that finds nothing
	lane      time.Duration // making sure that a lane exists, when it does not
	look      map[int]time.Duration
}

func processor() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails only for a wrong argument
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// per is what f takes of the processor, divided by n.
func per(n int, f func() error) (time.Duration, error) {
	before := processor()
	err := f()
	return (processor() - before) / time.Duration(n), err
}

func measure(ctx context.Context, tenants []int) (c costs, err error) {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return c, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	if err != nil {
		return c, err
	}
	defer func() { _ = server.Close() }()
	nc, err := nats.Connect(server.URL())
	if err != nil {
		return c, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return c, err
	}
	names, err := wire.NewNames("")
	if err != nil {
		return c, err
	}
	if err := wire.Ensure(ctx, js, names); err != nil {
		return c, err
	}
	if c.signal, err = signals(ctx, nc, server.URL()); err != nil {
		return c, err
	}
	if err := c.lanes(ctx, js, names); err != nil {
		return c, err
	}
	c.look = map[int]time.Duration{}
	sent := 0
	for _, n := range tenants {
		for ; sent < n; sent++ {
			body := fmt.Sprintf(`{"text":"chunk %d"}`, sent)
			if _, err := js.PublishAsync(names.ChunkSubject(fmt.Sprint("t", sent)), []byte(body), jetstream.WithStallWait(time.Minute)); err != nil {
				return c, err
			}
		}
		<-js.PublishAsyncComplete()
		stream, err := js.Stream(ctx, names.ChunkStream())
		if err != nil {
			return c, err
		}
		c.look[n], err = per(3, func() error {
			for range 3 {
				if _, err := stream.Info(ctx, jetstream.WithSubjectFilter(names.ChunkFilter())); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// signals sends to many subscribers, each with a connection as workers have.
func signals(ctx context.Context, nc *nats.Conn, url string) (time.Duration, error) {
	const subscribers, messages = 100, 2000
	got := make(chan struct{}, subscribers*messages)
	for range subscribers {
		other, err := nats.Connect(url)
		if err != nil {
			return 0, err
		}
		defer other.Close()
		if _, err := other.Subscribe("signal.*", func(*nats.Msg) { got <- struct{}{} }); err != nil {
			return 0, err
		}
		if err := other.Flush(); err != nil {
			return 0, err
		}
	}
	return per(subscribers*messages, func() error {
		for i := range messages {
			if err := nc.Publish(fmt.Sprint("signal.", i%10), []byte(strings.Repeat(" ", 8))); err != nil {
				return err
			}
		}
		for range subscribers * messages {
			select {
			case <-got:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

func (c *costs) lanes(ctx context.Context, js jetstream.JetStream, names wire.Names) (err error) {
	const n = 200
	var last jetstream.Consumer
	c.lane, err = per(n, func() error {
		for i := range n {
			last, err = wire.EnsureLane(ctx, js, names, fmt.Sprint("lane", i), 30*time.Second, wire.LaneIdleCrowded)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.emptyPull, err = per(n, func() error {
		for range n {
			batch, err := last.FetchNoWait(1)
			if err != nil {
				return err
			}
			for range batch.Messages() {
				continue
			}
		}
		return nil
	})
	return err
}
