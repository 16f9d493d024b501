package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// figure is what one contestant took.
type figure struct {
	wall      time.Duration // from the first result to the last
	processor time.Duration // of the workers and the NATS server, user and system
	server    time.Duration // of these, the server's
	lanes     int           // consumers of the queue, at most

	idleWatched, idleProcessor time.Duration // of a worker, afterwards
	memory                     uint64        // of a worker, in bytes, resident
}

func (f figure) String() string {
	return fmt.Sprintf("%7.2fs wall %7.2fs processor (server %.2fs) %4d lanes", f.wall.Seconds(), f.processor.Seconds(), f.server.Seconds(), f.lanes)
}

// buildWorker builds the command that is measured.
func buildWorker() (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "worker")
	build := exec.Command("go", "build", "-o", path, "./cmd/worker")
	build.Dir = ".."                                  // the product's module; this one is run in bench/
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as `make build` does
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		remove()
		return "", nil, fmt.Errorf("build the worker: %w", err)
	}
	return path, remove, nil
}

// measure publishes the backlog to a server of its own, and lets the contestant
// do it.
func (p plan) measure(ctx context.Context, worker string, c contestant) (f figure, err error) {
	dir, err := os.MkdirTemp("", "fleet-store")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, url, err := startServer(ctx, dir)
	if err != nil {
		return f, err
	}
	defer stop(server)
	model, closeModel, err := startModel()
	if err != nil {
		return f, err
	}
	defer closeModel()

	nc, err := nats.Connect(url)
	if err != nil {
		return f, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return f, err
	}
	names, err := wire.NewNames("")
	if err != nil {
		return f, err
	}
	if err := publish(ctx, js, names, p.chunks, c.tenants); err != nil {
		return f, err
	}

	before := processorTime(server.Process.Pid)
	env := append(os.Environ(), "NATS_URL="+url, "OPENAI_BASE_URL="+model)
	var workers []*exec.Cmd
	for range c.workers {
		cmd := exec.CommandContext(ctx, worker, "run", "--rpm", "unlimited", "--model", "zero", "--listen", "", "--log-level", "warn", "--concurrency", fmt.Sprint(p.concurrency))
		if c.bare {
			cmd = exec.CommandContext(ctx, os.Args[0], "-child", "bare", "-concurrency", fmt.Sprint(p.concurrency))
		}
		cmd.Env, cmd.Stderr = env, os.Stderr
		if c.alone {
			cmd.Env = append(cmd.Env, "WEIR_CACHE=memory")
		}
		if err := cmd.Start(); err != nil {
			return f, err
		}
		defer stop(cmd)
		workers = append(workers, cmd)
	}
	first, last, lanes, err := awaitResults(ctx, js, names, p.chunks)
	if err != nil {
		return f, err
	}
	f.wall, f.lanes = last.Sub(first), lanes
	f.server = processorTime(server.Process.Pid) - before
	f.processor = f.server
	for _, cmd := range workers {
		f.processor += processorTime(cmd.Process.Pid)
	}
	if p.idle > 0 && !c.bare && !c.alone && c.workers == 1 {
		pid := workers[0].Process.Pid
		if err := wait(ctx, 3*time.Second); err != nil { // what was begun comes to an end
			return f, err
		}
		began := processorTime(pid)
		if err := wait(ctx, p.idle); err != nil {
			return f, err
		}
		f.idleWatched, f.idleProcessor, f.memory = p.idle, processorTime(pid)-began, resident(pid)
	}
	return f, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends a process kindly, and waits for it.
func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// chunksOfDocument is how many chunks each document has.
const chunksOfDocument = 20

func publish(ctx context.Context, js jetstream.JetStream, names wire.Names, chunks, tenants int) error {
	if err := wire.Ensure(ctx, js, names); err != nil {
		return err
	}
	for i := range chunks {
		n := i / tenants // of the tenant
		document, index, text := fmt.Sprint("d", n/chunksOfDocument), n%chunksOfDocument, fmt.Sprintf("%s Chunk %d.", sentence, i)
		body := fmt.Sprintf(`{"document_id":%q,"index":%d,"total":%d,"text":%q}`, document, index, chunksOfDocument, text)
		id := jetstream.WithMsgID(extraction.ChunkID(document, index, text)) // as every publisher does
		if _, err := js.PublishAsync(names.ChunkSubject(fmt.Sprint("tenant", i%tenants)), []byte(body), id, jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitResults waits until all results are stored, and returns when the first
// and the last were, and how many consumers the queue had meanwhile.
func awaitResults(ctx context.Context, js jetstream.JetStream, names wire.Names, chunks int) (first, last time.Time, lanes int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		stream, err := js.Stream(ctx, names.ResultStream())
		if err != nil {
			return first, last, 0, err
		}
		queue, err := js.Stream(ctx, names.ChunkStream())
		if err != nil {
			return first, last, 0, err
		}
		lanes = max(lanes, queue.CachedInfo().State.Consumers)
		state := stream.CachedInfo().State
		if state.Msgs == uint64(chunks) {
			return state.FirstTime, state.LastTime, lanes, nil
		}
		if state.Msgs > uint64(chunks) {
			return first, last, 0, errors.New("more results than chunks")
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return first, last, 0, fmt.Errorf("%d of %d results: %w", state.Msgs, chunks, err)
		}
	}
}
