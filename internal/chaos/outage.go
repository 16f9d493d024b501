package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// outage: the model server fails whatever it is asked, in several ways, and then
// recovers. The fleet notices soon, asks once per recovery timeout, and afterwards
// goes on without another failure.
func outage(ctx context.Context, w *world) ([]finding, error) {
	const workers, slots, threshold, recovery = 4, 2, 5, 2 * time.Second
	periods := pick(w.form, 2, 10)
	ways := []string{"server_error", "bad_gateway", "reset", "cut_body", "ok_html"}
	w.model.behaves(func(modelserver.Request) modelserver.Behaviour {
		way, _ := modelserver.Named(ways[w.rnd.IntN(len(ways))])
		return way.WithDelay(20 * time.Millisecond)
	})
	err := w.startWorkers(ctx, workers, "--rpm", "unlimited", "--concurrency", fmt.Sprint(slots), "--max-retries", "0", "--max-attempts", "100",
		"--failure-threshold", fmt.Sprint(threshold), "--recovery-timeout", recovery.String())
	if err != nil {
		return nil, err
	}
	published, err := w.client.publish(ctx, "acme", 0, 200)
	if err != nil {
		return nil, err
	}
	first, err := w.opened(ctx)
	if err != nil {
		return nil, err
	}
	if err := await(ctx, time.Duration(periods+2)*2*recovery, "the fleet probes", func() bool { return w.model.requests() >= first+periods }); err != nil {
		return nil, err
	}
	w.model.behaves(nil)
	recovered := time.Now()
	o, err := w.settled(ctx, len(published))
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	return []finding{
		{
			Promise:  "a dead server is left alone",
			Measured: fmt.Sprintf("%d calls until the circuit was open", first),
			Bar:      fmt.Sprintf("<= %d", threshold+workers*slots),
			Verdict:  verdict(first >= threshold && first <= threshold+workers*slots),
		},
		checkProbes(append([]time.Time{failure(calls, threshold)}, arrivals(calls[first:first+periods], "")...), recovery),
		checkRecovery(calls, recovered),
		checkOnce(published, o),
		checkLetters(nil, o),
	}, nil
}

// opened waits until the circuit is open and those calls have come that were let
// through before, and returns how many have come in all.
func (w *world) opened(ctx context.Context) (int, error) {
	err := await(ctx, 30*time.Second, "the circuit opens", func() bool { return w.client.circuit(ctx) == "open" })
	if err != nil {
		return 0, err
	}
	const quiet = 500 * time.Millisecond
	err = await(ctx, 30*time.Second, "the last calls have come", func() bool {
		s := w.model.Stats()
		return s.InFlight == 0 && time.Since(s.Last) > quiet
	})
	return w.model.requests(), err
}

// failure is when the nth call had failed.
func failure(calls []call, nth int) time.Time {
	var times []time.Time
	for _, c := range calls {
		times = append(times, c.done)
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[nth-1]
}

// checkProbes: from one time to the next it is a recovery timeout, and not much more
// than that. The first is when the circuit opened, the others are calls.
func checkProbes(times []time.Time, recovery time.Duration) finding {
	const late = 1500 * time.Millisecond // on a busy machine
	var gaps []time.Duration
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, times[i].Sub(times[i-1]).Round(time.Millisecond))
	}
	f := finding{Promise: "then one call per recovery timeout", Bar: fmt.Sprintf("%v to %v apart", recovery, recovery+late), Verdict: broken, Measured: "no calls"}
	if len(gaps) > 0 {
		least, most := slices.Min(gaps), slices.Max(gaps)
		f.Measured = fmt.Sprintf("%d, %v to %v apart", len(gaps), least, most)
		f.Verdict = verdict(least >= recovery && most <= recovery+late)
	}
	return f
}

// checkRecovery: once the server works, no call fails, but for a probe that was
// under way.
func checkRecovery(calls []call, recovered time.Time) finding {
	failed, after := 0, 0
	for _, c := range calls {
		if c.at.After(recovered) {
			after++
			if c.status != 200 {
				failed++
			}
		}
	}
	return finding{
		Promise: "no further failure after recovery", Measured: fmt.Sprintf("%d of %d calls failed", failed, after), Bar: "0",
		Verdict: verdict(after > 0 && failed == 0),
	}
}
