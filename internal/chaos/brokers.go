package main

import (
	"context"
	"fmt"
	"time"
)

// brokers: nats-server is killed with -9 and comes back with its files. No chunk is
// lost, none has two results, and no worker gives up.
func brokers(ctx context.Context, w *world) ([]finding, error) {
	times, chunks := 2, 500
	if !w.form.short {
		times, chunks = 8, 2000
	}
	w.model.takes(150 * time.Millisecond)
	published, err := w.startWith(ctx, 4, chunks, "--concurrency", "4")
	if err != nil {
		return nil, err
	}
	var away time.Duration
	for i := range times {
		if err := await(ctx, 30*time.Second, "some more is done", func() bool { return w.client.results(ctx) >= (i+1)*chunks/(times+2) }); err != nil {
			return nil, err
		}
		w.broker.kill()
		gone := time.Now()
		if err := sleep(ctx, time.Duration(w.rnd.IntN(1000))*time.Millisecond); err != nil {
			return nil, err
		}
		if err := w.broker.start(ctx); err != nil {
			return nil, err
		}
		away += time.Since(gone)
	}
	done := w.client.results(ctx)
	o, err := w.settled(ctx, chunks)
	if err != nil {
		return nil, err
	}
	calls, crashed := w.model.calls(), w.crashed()
	return append([]finding{
		{
			Promise: "workers outlive their broker", Measured: fmt.Sprintf("%d kills, away for %v in all, %d of %d done at the last; %d workers ended", times, away.Round(10*time.Millisecond), done, chunks, len(crashed)),
			Bar: "0 ended, not all done", Verdict: verdict(len(crashed) == 0 && done < chunks),
		},
		checkOnce(published, o),
	}, w.checkRest(calls, o)...), nil
}
