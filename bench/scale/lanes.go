package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// laneCosts are what lanes take of the servers that keep them, all together.
type laneCosts struct {
	made, making time.Duration   // one after another: wall clock and processor, each
	memory       int64           // bytes of 1,000
	idle         float64         // cores of 1,000 that nobody uses, beside those without any
	chunk        []time.Duration // wall clock of one stored, pulled and acknowledged, with so many lanes as in busy
	chunkCPU     []time.Duration
}

// compareLanes prints what n lanes take of one server, beside three that each have a copy.
// What is told of 1,000 means little if n is far from it.
func compareLanes(ctx context.Context, n int) error {
	dir, err := os.MkdirTemp("", "scale-lanes")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(process.BuildNATSServer(ctx, dir), process.Build(ctx, dir, "./cmd/worker")); err != nil {
		return err
	}
	busy := slices.Compact([]int{1, min(200, n), n})
	one, err := measureLanes(ctx, dir, 1, busy)
	if err != nil {
		return fmt.Errorf("one server: %w", err)
	}
	three, err := measureLanes(ctx, dir, 3, busy)
	if err != nil {
		return fmt.Errorf("three servers: %w", err)
	}
	fmt.Printf("%d lanes, on nats-server processes; of three, all together\n", n)
	fmt.Printf("  %-52s %10s %10s %8s\n", "", "one", "three", "ratio")
	row := func(text, format string, a, b float64) {
		ratio := "-"
		if a > 0 {
			ratio = fmt.Sprintf("%.1f", b/a)
		}
		fmt.Printf("  %-52s %10s %10s %8s\n", text, fmt.Sprintf(format, a), fmt.Sprintf(format, b), ratio)
	}
	times := func(text string, a, b time.Duration) { row(text, "%.2f ms", 1000*a.Seconds(), 1000*b.Seconds()) }
	times("a lane made, wall clock", one.made, three.made)
	times("the same, processor", one.making, three.making)
	row("memory of 1,000 lanes", "%.0f MB", float64(one.memory>>20), float64(three.memory>>20))
	row("1,000 lanes that nobody uses, of a core", "%.1f %%", 100*one.idle, 100*three.idle)
	for i, lanes := range busy {
		times(fmt.Sprintf("a chunk stored, pulled and done; lanes: %d", lanes), one.chunk[i], three.chunk[i])
		times("the same, processor", one.chunkCPU[i], three.chunkCPU[i])
	}
	for _, tenants := range []int{20, 60, 300} {
		const chunks = 1200
		oneWall, oneCPU, err := done(ctx, dir, 1, chunks, tenants)
		if err != nil {
			return err
		}
		threeWall, threeCPU, err := done(ctx, dir, 3, chunks, tenants)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("two workers and %d chunks of %d tenants", chunks, tenants), "%.1f s", oneWall.Seconds(), threeWall.Seconds())
		row("the same, processor of the servers", "%.1f s", oneCPU.Seconds(), threeCPU.Seconds())
	}
	return nil
}

// measureLanes makes lanes on so many servers, first as few and then as many as in busy,
// and lets chunks through each time.
func measureLanes(ctx context.Context, dir string, copies int, busy []int) (c laneCosts, err error) {
	store, err := os.MkdirTemp(dir, "lanes")
	if err != nil {
		return c, err
	}
	all, js, names, err := startServers(ctx, filepath.Join(dir, "nats-server"), store, copies)
	if err != nil {
		return c, err
	}
	defer all.kill()
	defer js.Conn().Close()

	emptyMemory, emptyIdle, err := all.rest(ctx)
	if err != nil {
		return c, err
	}
	var lanes []jetstream.Consumer
	for _, n := range busy {
		before, err := all.processor()
		if err != nil {
			return c, err
		}
		began, had := time.Now(), len(lanes)
		for len(lanes) < n {
			lane, err := wire.EnsureLane(ctx, js, names, token(len(lanes)), 30*time.Second, time.Hour)
			if err != nil {
				return c, err
			}
			lanes = append(lanes, lane)
		}
		took := time.Since(began)
		after, err := all.processor()
		if err != nil {
			return c, err
		}
		c.made, c.making = took/time.Duration(n-had), (after-before)/time.Duration(n-had) // the last, and so the most, count
		if n == busy[len(busy)-1] {
			memory, idle, err := all.rest(ctx)
			if err != nil {
				return c, err
			}
			c.memory, c.idle = (memory-emptyMemory)*1000/int64(n), max(0, idle-emptyIdle)*1000/float64(n)
		}
		wall, processor, err := all.work(ctx, js, names, lanes)
		if err != nil {
			return c, err
		}
		c.chunk, c.chunkCPU = append(c.chunk, wall), append(c.chunkCPU, processor)
	}
	return c, nil
}

// rest is what the servers hold, and what part of a core they use, while nobody asks them.
func (s servers) rest(ctx context.Context) (memory int64, cores float64, err error) {
	const watched = 10 * time.Second
	if err := pause(ctx, 3*time.Second); err != nil { // what was begun comes to an end
		return 0, 0, err
	}
	before, err := s.processor()
	if err != nil {
		return 0, 0, err
	}
	if err := pause(ctx, watched); err != nil {
		return 0, 0, err
	}
	after, err := s.processor()
	if err != nil {
		return 0, 0, err
	}
	memory, err = s.memory()
	return memory, (after - before).Seconds() / watched.Seconds(), err
}

// work stores chunks for all lanes alike, takes each by itself and acknowledges it, eight
// at a time, as workers do without a batch.
func (s servers) work(ctx context.Context, js jetstream.JetStream, names wire.Names, lanes []jetstream.Consumer) (wall, processor time.Duration, err error) {
	const chunks, slots = 2000, 8
	before, err := s.processor()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for i := range chunks {
		if _, err := js.PublishAsync(names.ChunkSubject(token(i%len(lanes))), []byte(`{"text":"a chunk"}`), jetstream.WithStallWait(time.Minute)); err != nil {
			return 0, 0, err
		}
	}
	<-js.PublishAsyncComplete()
	next := make(chan jetstream.Consumer, chunks)
	for i := range chunks {
		next <- lanes[i%len(lanes)]
	}
	close(next)
	errs := make(chan error, slots)
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for lane := range next {
				m, err := lane.Next(jetstream.FetchMaxWait(time.Minute))
				if err == nil {
					err = m.DoubleAck(ctx)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	wall = time.Since(began)
	select {
	case err := <-errs:
		return 0, 0, err
	default:
	}
	after, err := s.processor()
	return wall / chunks, (after - before) / chunks, err
}

func token(i int) string { return fmt.Sprint("lane", i) }
