package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/process"
)

// done is how long two workers, which ask no model, take to finish chunks of so many
// tenants on so many servers, and what the servers use of their processors for it.
func done(ctx context.Context, dir string, copies, chunks, tenants int) (wall, processor time.Duration, err error) {
	store, err := os.MkdirTemp(dir, "fleet")
	if err != nil {
		return 0, 0, err
	}
	all, js, names, err := startServers(ctx, filepath.Join(dir, "nats-server"), store, copies)
	if err != nil {
		return 0, 0, err
	}
	defer all.kill()
	defer js.Conn().Close()
	for i := range chunks {
		body := fmt.Sprintf(`{"text":"Letter %d: Ada Lovelace met Charles Babbage in London."}`, i)
		if _, err := js.PublishAsync(names.ChunkSubject(token(i%tenants)), []byte(body), jetstream.WithStallWait(time.Minute)); err != nil {
			return 0, 0, err
		}
	}
	<-js.PublishAsyncComplete()
	before, err := all.processor()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for range 2 {
		worker, err := process.Command{
			Path: filepath.Join(dir, "worker"), Home: store,
			Args: []string{"run", "--provider", "offline", "--rpm", "unlimited", "--listen", "", "--replicas", fmt.Sprint(copies)},
			Env:  []string{"NATS_URL=" + js.Conn().ConnectedUrl()},
		}.Start()
		if err != nil {
			return 0, 0, err
		}
		defer worker.Kill()
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		results, err := js.Stream(ctx, names.ResultStream())
		if err == nil && results.CachedInfo().State.Msgs >= uint64(chunks) {
			break
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return 0, 0, fmt.Errorf("%d chunks of %d tenants: %w", chunks, tenants, err)
		}
	}
	wall = time.Since(began)
	after, err := all.processor()
	return wall, after - before, err
}
