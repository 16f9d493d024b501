package main

import (
	"context"
	"fmt"
	"time"
)

// stopped: the operating system does not let a worker run for longer than its ack
// wait (SIGSTOP), while it has calls under way. Others do its chunks; when it goes
// on, it does no harm.
func stopped(ctx context.Context, w *world) ([]finding, error) {
	const slots, ackWait = 4, 2 * time.Second
	rounds, chunks := 1, 150
	if !w.form.short {
		rounds, chunks = 6, 900
	}
	w.model.takes(200 * time.Millisecond)
	published, err := w.startWith(ctx, 3, chunks, "--concurrency", fmt.Sprint(slots))
	if err != nil {
		return nil, err
	}
	held := 0
	for i := range rounds {
		victim := w.workers[i%len(w.workers)]
		if err := await(ctx, 30*time.Second, victim.name+" has calls under way", func() bool { return w.underWay(victim) > 0 }); err != nil {
			return nil, err
		}
		if err := victim.Pause(); err != nil {
			return nil, err
		}
		held += w.underWay(victim)
		if err := sleep(ctx, ackWait+ackWait/2+time.Duration(w.rnd.IntN(1000))*time.Millisecond); err != nil {
			return nil, err
		}
		if err := victim.Resume(); err != nil {
			return nil, err
		}
	}
	o, err := w.settled(ctx, chunks)
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	return []finding{
		{
			Promise: "a worker is stopped in the middle of calls", Measured: fmt.Sprintf("%d stops with %d calls under way; %d calls in the end", rounds, held, len(calls)),
			Bar: "at least 1 each", Verdict: verdict(held >= rounds),
		},
		checkOnce(published, o), checkLetters(nil, o), checkNotRepeated(calls, o, rounds*slots),
	}, nil
}

// underWay is how many calls of a worker last at the moment.
func (w *world) underWay(one *worker) int {
	n := 0
	for _, c := range w.model.calls() {
		if c.worker == one.name && c.done.IsZero() {
			n++
		}
	}
	return n
}
