package main

import (
	"context"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// prober: the worker that probes a recovering server is killed in the middle of the
// probe. Another takes over after one lease, which is as long as the recovery
// timeout.
func prober(ctx context.Context, w *world) ([]finding, error) {
	const recovery, late = 2 * time.Second, 1500 * time.Millisecond
	failing, err := modelserver.Named("server_error")
	if err != nil {
		return nil, err
	}
	w.model.behaves(func(modelserver.Request) modelserver.Behaviour { return failing })
	err = w.startWorkers(ctx, 3, "--rpm", "unlimited", "--concurrency", "4", "--max-retries", "0", "--max-attempts", "100", "--recovery-timeout", recovery.String())
	if err != nil {
		return nil, err
	}
	published, err := w.client.publish(ctx, "acme", 0, 60)
	if err != nil {
		return nil, err
	}
	rounds := pick(w.form, 1, 5)
	longest, extra := time.Duration(0), 0
	for range rounds {
		w.model.behaves(func(modelserver.Request) modelserver.Behaviour { return failing })
		before, err := w.opened(ctx)
		if err != nil {
			return nil, err
		}
		w.model.behaves(func(modelserver.Request) modelserver.Behaviour { return modelserver.Behaviour{Hang: true} })
		if err := await(ctx, 30*time.Second, "somebody probes", func() bool { return w.model.requests() > before }); err != nil {
			return nil, err
		}
		victim := w.named(w.model.calls()[before].worker)
		if victim == nil {
			return nil, fmt.Errorf("the probe came from nobody that was started")
		}
		w.model.behaves(func(modelserver.Request) modelserver.Behaviour { return failing })
		killed := time.Now()
		victim.Kill()
		if err := await(ctx, 30*time.Second, "another probes", func() bool { return w.model.requests() > before+1 }); err != nil {
			return nil, err
		}
		calls := w.model.calls()
		longest = max(longest, calls[before+1].at.Sub(killed))
		extra += len(calls) - before - 2
		if err := victim.start(); err != nil {
			return nil, err
		}
	}
	w.model.behaves(nil)
	o, err := w.settled(ctx, len(published))
	if err != nil {
		return nil, err
	}
	return []finding{
		{
			Promise:  "a killed prober delays recovery by one lease at most",
			Measured: fmt.Sprintf("next probe %v after the kill, most of %d; %d calls beside it", longest.Round(time.Millisecond), rounds, extra),
			Bar:      fmt.Sprintf("<= %v (lease) + %v, 0 beside it", recovery, late),
			Verdict:  verdict(longest <= recovery+late && extra == 0),
		},
		checkOnce(published, o),
		checkLetters(nil, o),
	}, nil
}

// named is the worker of that name, nil if there is none.
func (w *world) named(name string) *worker {
	for _, one := range w.workers {
		if one.name == name {
			return one
		}
	}
	return nil
}
