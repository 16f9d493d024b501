package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/process"
)

// programs is the folder in which they were built.
type programs struct{ dir string }

func (p programs) path(name string) string { return filepath.Join(p.dir, "bin", name) }

func (p programs) remove() error { return os.RemoveAll(filepath.Join(p.dir, "bin")) }

// buildPrograms builds what the trials start.
func buildPrograms(ctx context.Context, dir string, trials []trial) (programs, error) {
	p := programs{dir}
	packages := []string{}
	if needs(trials, ours) {
		packages = append(packages, "./cmd/worker")
	}
	if needs(trials, literals()...) {
		packages = append(packages, "./internal/chaos/literal")
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return p, err
	}
	if err := process.Build(ctx, bin, packages...); err != nil {
		return p, err
	}
	return p, process.BuildNATSServer(ctx, bin)
}

// world is a broker, a model server and workers of their own for one trial. One
// goroutine uses it.
type world struct {
	programs programs
	design   string
	form     form
	answers  string
	dir      string
	rnd      *rand.Rand

	broker  *broker
	model   *model
	client  *client
	workers []*worker
	logs    []*os.File
}

func (w *world) open(ctx context.Context) error {
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		return err
	}
	log, err := w.log("nats-server")
	if err != nil {
		return err
	}
	w.broker = &broker{program: w.programs.path("nats-server"), store: filepath.Join(w.dir, "store"), output: log}
	if err := w.broker.start(ctx); err != nil {
		return err
	}
	if w.client, err = connect(w.broker.url()); err != nil {
		return err
	}
	w.model, err = startModel()
	return err
}

// close ends every process by its id, and whatever else was started.
func (w *world) close() {
	for _, worker := range w.workers {
		if worker.Process != nil {
			worker.Kill()
		}
	}
	if w.client != nil {
		w.client.close()
	}
	if w.model != nil {
		w.model.Close()
	}
	if w.broker != nil {
		w.broker.kill()
		_ = os.RemoveAll(w.broker.store) // the logs stay
	}
	for _, file := range w.logs {
		_ = file.Close()
	}
}

// settled waits until so many chunks have ended and none waits, or until that is
// hopeless: then the checks say what is missing. It reads all that there is.
func (w *world) settled(ctx context.Context, n int) (outcomes, error) {
	return w.settledWithin(ctx, pick(w.form, 45*time.Second, 5*time.Minute), n)
}

func (w *world) settledWithin(ctx context.Context, patience time.Duration, n int) (outcomes, error) {
	c := w.client
	_ = await(ctx, patience, "all chunks have ended", func() bool {
		return int(c.state(ctx, streamResults).Msgs+c.state(ctx, streamDead).Msgs) >= n && c.state(ctx, streamChunks).Msgs == 0
	})
	// Whoever still holds a chunk that has ended would show it now.
	if err := sleep(ctx, 500*time.Millisecond); err != nil {
		return outcomes{}, err
	}
	return c.outcomes(ctx)
}

// checkRest is what cannot be asked of every design: the literal one has no dead letters,
// and where a result may replace another, nobody knows when the first was stored.
func (w *world) checkRest(calls []call, o outcomes) []finding {
	switch w.design {
	case ours:
		return []finding{checkLetters(nil, o), checkNotRepeated(calls, o, 0)}
	case literalID:
		return []finding{checkNotRepeated(calls, o, 0)}
	default:
		return nil
	}
}

// log is a file for what a process writes, over all its lives.
func (w *world) log(name string) (io.Writer, error) {
	file, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		w.logs = append(w.logs, file)
	}
	return file, err
}

// sleep is part of a scenario: trouble takes its time.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await polls until it is so, and is an error that says what for if that takes
// longer than patience.
func await(ctx context.Context, patience time.Duration, what string, so func() bool) error {
	for deadline := time.Now().Add(patience); !so(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("did not happen within %v: %s", patience, what)
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
	}
	return nil
}
