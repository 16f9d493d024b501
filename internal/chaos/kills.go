package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// kills: workers die by kill -9 at any moment, and others are started. No chunk is
// lost, and none has two results.
func kills(ctx context.Context, w *world) ([]finding, error) {
	const workers, slots = 4, 4
	times, within, chunks := 8, 6*time.Second, 400
	if !w.form.short {
		times, within, chunks = 40, 30*time.Second, 2000
	}
	w.model.takes(280 * time.Millisecond)
	published, err := w.startWith(ctx, workers, chunks, "--concurrency", fmt.Sprint(slots))
	if err != nil {
		return nil, err
	}
	moments := make([]time.Duration, times) // at any, but the last one at the end
	for i := range moments[1:] {
		moments[i] = time.Duration(w.rnd.Int64N(int64(within)))
	}
	moments[times-1] = within
	slices.Sort(moments)
	begun := time.Now()
	for _, moment := range moments {
		if err := sleep(ctx, moment-time.Since(begun)); err != nil {
			return nil, err
		}
		victim := w.workers[w.rnd.IntN(workers)]
		victim.Kill()
		if err := victim.start(); err != nil {
			return nil, err
		}
	}
	took, done := time.Since(begun), w.client.results(ctx)
	o, err := w.settled(ctx, chunks)
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	return append([]finding{
		{
			Promise: "the workers are killed while they work", Measured: fmt.Sprintf("%d kills in %v, %d of %d chunks done by then; %d calls in the end", times, took.Round(100*time.Millisecond), done, chunks, len(calls)),
			Bar: "some done, not all", Verdict: verdict(done > 0 && done < chunks),
		},
		checkOnce(published, o),
	}, w.checkRest(calls, o)...), nil
}

// startWith starts workers and publishes so many chunks of one tenant for them.
func (w *world) startWith(ctx context.Context, workers, chunks int, flags ...string) ([]chunk, error) {
	if err := w.startWorkers(ctx, workers, append([]string{"--rpm", "unlimited"}, flags...)...); err != nil {
		return nil, err
	}
	return w.client.publish(ctx, "acme", 0, chunks)
}
