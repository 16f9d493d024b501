package main

import (
	"context"
	"fmt"
	"time"
)

// away: nats-server is gone for a minute. Workers wait for it without ending and
// without being busy, and go on by themselves.
func away(ctx context.Context, w *world) ([]finding, error) {
	const chunks, soon = 200, 10 * time.Second
	absence := pick(w.form, 8*time.Second, time.Minute)
	w.model.takes(100 * time.Millisecond)
	published, err := w.startWith(ctx, 3, chunks, "--concurrency", "2")
	if err != nil {
		return nil, err
	}
	if err := await(ctx, 30*time.Second, "the fleet works", func() bool { return w.client.results(ctx) >= 20 }); err != nil {
		return nil, err
	}
	w.broker.kill()
	if err := sleep(ctx, 500*time.Millisecond); err != nil { // what they were doing ends
		return nil, err
	}
	before, err := w.cpu()
	if err != nil {
		return nil, err
	}
	watched := time.Now()
	if err := sleep(ctx, absence); err != nil {
		return nil, err
	}
	busiest, err := w.mostCPU(before, time.Since(watched))
	if err != nil {
		return nil, err
	}
	crashed, calls := w.crashed(), w.model.requests()
	if err := w.broker.start(ctx); err != nil {
		return nil, err
	}
	back := time.Now()
	_ = await(ctx, soon, "the fleet works again", func() bool { return w.model.requests() > calls })
	resumed := time.Since(back)
	o, err := w.settled(ctx, chunks)
	if err != nil {
		return nil, err
	}
	return []finding{
		{
			Promise: "a missing broker is waited for", Measured: fmt.Sprintf("away for %v: %d workers ended, the busiest used %.1f %% of a core", absence, len(crashed), 100*busiest),
			Bar: "0 ended, <= 5 %", Verdict: verdict(len(crashed) == 0 && busiest <= 0.05),
		},
		{Promise: "and work goes on by itself", Measured: fmt.Sprintf("first call after %v", resumed.Round(time.Millisecond)), Bar: "<= " + soon.String(), Verdict: verdict(resumed <= soon)},
		checkOnce(published, o), checkLetters(nil, o), checkNotRepeated(w.model.calls(), o, 0),
	}, nil
}
