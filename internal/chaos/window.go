package main

import (
	"context"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// window: a backlog that is deeper than the allowance, and more workers than are
// needed for it. The allowance is used and not exceeded, and hardly anything is
// delivered in vain.
func window(ctx context.Context, w *world) ([]finding, error) {
	const limit, width = 50, 5 * time.Second
	windows := pick(w.form, 4, 20)
	w.model.takes(20 * time.Millisecond)
	if err := w.startWorkers(ctx, 4, "--rpm", "50", "--window", width.String()); err != nil {
		return nil, err
	}
	if _, err := w.client.publish(ctx, "acme", 0, pick(w.form, 300, 2000)); err != nil {
		return nil, err
	}
	if err := w.model.Await(ctx, func(s modelserver.Stats) bool { return s.Requests > 0 }); err != nil {
		return nil, err
	}
	end := w.model.Stats().First.Add(time.Duration(windows) * width)
	for time.Now().Before(end) {
		if err := sleep(ctx, min(time.Second, time.Until(end))); err != nil {
			return nil, err
		}
		if _, err := w.client.deliveries(ctx); err != nil { // consumers may come and go
			return nil, err
		}
	}
	deliveries, err := w.client.deliveries(ctx)
	if err != nil {
		return nil, err
	}
	o, err := w.client.outcomes(ctx)
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	return []finding{
		checkWindow(spans(calls, o), limit, width), checkUsed(arrivals(calls, ""), limit, width, windows), checkDeliveries(deliveries, len(o.results)),
	}, nil
}
