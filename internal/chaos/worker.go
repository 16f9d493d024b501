package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/process"
)

// worker is a process of the fleet that can be killed and started again. Its name
// is its API key, so that the model server can tell whose call it is.
type worker struct {
	*process.Process
	name   string
	launch func() (*process.Process, error)
}

// startWorkers starts n workers with these flags, and waits until the streams are
// there.
func (w *world) startWorkers(ctx context.Context, n int, flags ...string) error {
	for range n {
		name := fmt.Sprintf("worker-%d", len(w.workers)+1)
		log, err := w.log(name)
		if err != nil {
			return err
		}
		one := &worker{name: name, launch: func() (*process.Process, error) { return w.command(name, log, flags).Start() }}
		if err := one.start(); err != nil {
			return err
		}
		w.workers = append(w.workers, one)
	}
	return await(ctx, 30*time.Second, "the workers have made the streams", func() bool {
		return w.client.exists(ctx, streamChunks) && w.client.exists(ctx, streamResults) && (w.design != ours || w.client.exists(ctx, streamDead))
	})
}

// command is how the worker of this world's design is started.
func (w *world) command(name string, log io.Writer, flags []string) process.Command {
	c := process.Command{
		Path: w.programs.path("worker"), Out: log, Err: log, Home: w.dir,
		Args: []string{"run", "--listen", "", "--model", "test-model", "--initial-delay", "10ms", "--ack-wait", "2s"},
		Env:  []string{"NATS_URL=" + w.broker.url(), "OPENAI_BASE_URL=" + w.model.BaseURL(), "OPENAI_API_KEY=" + name},
	}
	if w.design != ours {
		c.Path, c.Args = w.programs.path("literal"), nil
		switch w.design {
		case literalExact:
			c.Args = []string{"--exact"}
		case literalID:
			c.Args = []string{"--id"}
		}
	}
	c.Args = append(c.Args, flags...)
	return c
}

func (w *worker) start() (err error) {
	w.Process, err = w.launch()
	return err
}

// mostCPU is the most processor time that any worker has used since before, per
// second.
func (w *world) mostCPU(before []time.Duration, over time.Duration) (float64, error) {
	now, err := w.cpu()
	if err != nil {
		return 0, err
	}
	most := 0.0
	for i := range now {
		most = max(most, (now[i]-before[i]).Seconds()/over.Seconds())
	}
	return most, nil
}

// cpu is the processor time that each worker has used.
func (w *world) cpu() ([]time.Duration, error) {
	spent, errs := make([]time.Duration, len(w.workers)), make([]error, len(w.workers))
	for i, one := range w.workers {
		spent[i], errs[i] = one.CPU()
	}
	return spent, errors.Join(errs...)
}

// crashed are the names of workers that have ended.
func (w *world) crashed() []string {
	var gone []string
	for _, one := range w.workers {
		if !one.Running() {
			gone = append(gone, one.name)
		}
	}
	return gone
}
