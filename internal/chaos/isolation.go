package main

import (
	"context"
	"slices"
	"time"
)

// isolation: one tenant is throttled with a deep backlog, and now and then another
// has a chunk. That starts at once.
func isolation(ctx context.Context, w *world) ([]finding, error) {
	if err := w.startWorkers(ctx, 2, "--rpm", "100", "--window", "60s"); err != nil {
		return nil, err
	}
	if _, err := w.client.publish(ctx, "deep", 0, pick(w.form, 5_000, 100_000)); err != nil {
		return nil, err
	}
	if err := await(ctx, 30*time.Second, "the deep tenant is throttled", func() bool { return w.model.requests() >= 100 }); err != nil {
		return nil, err
	}
	patience := pick(w.form, 10*time.Second, 20*time.Second)
	var starts []time.Duration
	missing := 0
	for i := range pick(w.form, 20, 50) {
		published, err := w.client.publish(ctx, "quick", i, 1)
		if err != nil {
			return nil, err
		}
		stored := time.Now()
		came := func() bool {
			return slices.ContainsFunc(w.model.calls(), func(c call) bool { return c.of == published[0] })
		}
		if await(ctx, patience, "the chunk starts", came) != nil {
			starts, missing = append(starts, time.Since(stored)), missing+1
			break // the others would not either
		}
		calls := w.model.calls()
		at := calls[slices.IndexFunc(calls, func(c call) bool { return c.of == published[0] })].at
		starts = append(starts, at.Sub(stored))
		if err := sleep(ctx, time.Duration(w.rnd.IntN(100))*time.Millisecond); err != nil {
			return nil, err
		}
	}
	deliveries, err := w.client.deliveries(ctx)
	if err != nil {
		return nil, err
	}
	return []finding{checkStarts(starts, missing), checkDeliveries(deliveries, w.client.results(ctx))}, nil
}
