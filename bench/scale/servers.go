package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// servers are nats-server processes: one, or a cluster of several.
type servers []*process.Process

// startServers starts n of the program with their files in dir, connects to the first,
// and returns when the streams of a fleet are there, on all of them.
func startServers(ctx context.Context, program, dir string, n int) (all servers, js jetstream.JetStream, names wire.Names, err error) {
	defer func() {
		if err != nil {
			all.kill()
		}
	}()
	ports, err := freeport.Take(2 * n)
	if err != nil {
		return nil, nil, names, err
	}
	var routes []string
	for _, port := range ports[n:] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i := range n {
		args := []string{"--addr", "127.0.0.1", "--port", fmt.Sprint(ports[i]), "--jetstream", "--store_dir", filepath.Join(dir, fmt.Sprint("store-", i))}
		if n > 1 {
			args = append(args, "--name", fmt.Sprint("n", i), "--cluster_name", "scale", "--cluster", routes[i], "--routes", strings.Join(routes, ","))
		}
		one, err := process.Command{Path: program, Args: args}.Start()
		if err != nil {
			return all, nil, names, err
		}
		all = append(all, one)
	}
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", ports[0]), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return all, nil, names, err
	}
	if js, err = jetstream.New(nc); err != nil {
		return all, nil, names, err
	}
	if names, err = wire.NewNames(""); err != nil {
		return all, nil, names, err
	}
	names = names.WithReplicas(n)
	for began := time.Now(); ; { // a cluster has to find itself first
		if err = wire.Ensure(ctx, js, names); err == nil || time.Since(began) > time.Minute {
			return all, js, names, err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return all, nil, names, err
		}
	}
}

func (s servers) kill() {
	for _, one := range s {
		one.Kill()
	}
}

// processor is what all have used.
func (s servers) processor() (total time.Duration, err error) {
	for _, one := range s {
		used, err := one.CPU()
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// memory is what all hold, in bytes.
func (s servers) memory() (total int64, err error) {
	for _, one := range s {
		held, err := one.Memory()
		if err != nil {
			return 0, err
		}
		total += held
	}
	return total, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
