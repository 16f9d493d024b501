package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// drains: workers are told to stop (SIGTERM) and replaced one after the other, as in a
// deployment. Each finishes what it has begun, and nothing is asked twice.
func drains(ctx context.Context, w *world) ([]finding, error) {
	const workers = 3
	times, chunks := 4, 250
	if !w.form.short {
		times, chunks = 24, 1500
	}
	w.model.takes(200 * time.Millisecond)
	published, err := w.startWith(ctx, workers, chunks, "--concurrency", "4")
	if err != nil {
		return nil, err
	}
	failed, longest, busy := 0, time.Duration(0), 0
	for i := range times {
		victim := w.workers[i%workers]
		if err := await(ctx, 30*time.Second, victim.name+" has calls under way", func() bool { return w.underWay(victim) > 0 }); err != nil {
			return nil, err
		}
		if err := sleep(ctx, time.Duration(w.rnd.IntN(400))*time.Millisecond); err != nil {
			return nil, err
		}
		busy += w.underWay(victim)
		told := time.Now()
		if err := victim.Signal(syscall.SIGTERM); err != nil {
			return nil, err
		}
		code, err := victim.Wait(30 * time.Second)
		if err != nil {
			return nil, err
		}
		longest = max(longest, time.Since(told))
		if code != 0 {
			failed++
		}
		if err := victim.start(); err != nil {
			return nil, err
		}
	}
	done := w.client.results(ctx)
	o, err := w.settled(ctx, chunks)
	if err != nil {
		return nil, err
	}
	return []finding{
		{
			Promise: "workers drain", Measured: fmt.Sprintf("%d told to stop with %d calls under way, %d of %d chunks done by then; longest %v, %d with another exit code", times, busy, done, chunks, longest.Round(10*time.Millisecond), failed),
			Bar: "not all done, exit 0", Verdict: verdict(busy > 0 && done < chunks && failed == 0),
		},
		{
			Promise: "and nothing is asked twice", Measured: fmt.Sprintf("%d calls for %d chunks", w.model.requests(), chunks), Bar: fmt.Sprint(chunks),
			Verdict: verdict(w.model.requests() == chunks),
		},
		checkOnce(published, o), checkLetters(nil, o),
	}, nil
}
