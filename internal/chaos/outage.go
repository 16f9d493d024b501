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
// goes on without another failure. In the literal design each worker has a circuit of
// its own, with the same threshold and the same timeout.
func outage(ctx context.Context, w *world) ([]finding, error) {
	const workers, slots, threshold, recovery = 4, 2, 5, 2 * time.Second
	periods := pick(w.form, 2, 10)
	ways := []string{"server_error", "bad_gateway", "reset", "cut_body", "ok_html"}
	w.model.behaves(func(modelserver.Request) modelserver.Behaviour {
		way, _ := modelserver.Named(ways[w.rnd.IntN(len(ways))])
		return way.WithDelay(20 * time.Millisecond)
	})
	flags := []string{"--rpm", "unlimited", "--concurrency", fmt.Sprint(slots), "--failure-threshold", fmt.Sprint(threshold), "--recovery-timeout", recovery.String()}
	if w.design == ours { // as the other has it: nothing is tried again at once, or given up
		flags = append(flags, "--max-retries", "0", "--max-attempts", "100")
	}
	if err := w.startWorkers(ctx, workers, flags...); err != nil {
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
	var probes []time.Time
	err = await(ctx, time.Duration(periods+2)*2*recovery, "the fleet probes", func() bool {
		probes = arrivals(w.model.calls()[first:], "")
		return len(probes) > 0 && probes[len(probes)-1].Sub(probes[0]) >= time.Duration(periods-1)*recovery
	})
	if err != nil {
		return nil, err
	}
	w.model.behaves(nil)
	recovered := time.Now()
	o, err := w.settled(ctx, len(published))
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	return append([]finding{
		{
			Promise:  "a dead server is left alone",
			Measured: fmt.Sprintf("%d calls until it was", first),
			Bar:      fmt.Sprintf("<= %d", threshold+workers*slots),
			Verdict:  verdict(first >= threshold && first <= threshold+workers*slots),
		},
		checkProbes(failure(calls, threshold), probes, recovery),
		checkRecovery(calls, recovered),
		checkOnce(published, o),
	}, w.checkRest(calls, o)...), nil
}

// opened waits until the circuit is open, which the literal design does not show, and
// those calls have come that were let through before, and returns how many have come
// in all.
func (w *world) opened(ctx context.Context) (int, error) {
	err := await(ctx, 30*time.Second, "the circuit opens", func() bool {
		return w.client.circuit(ctx) == "open" || w.design != ours && w.model.requests() > 0
	})
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

// checkProbes: from one call to the next, and to the first from when the circuit
// opened, it is a recovery timeout, and not much more than that.
func checkProbes(opened time.Time, probes []time.Time, recovery time.Duration) finding {
	const late = 1500 * time.Millisecond // on a busy machine
	f := finding{Promise: "then one call per recovery timeout", Bar: fmt.Sprintf("%v to %v apart", recovery, recovery+late), Verdict: broken, Measured: "no calls"}
	var gaps []time.Duration
	for i, before := 0, opened; i < len(probes); i, before = i+1, probes[i] {
		gaps = append(gaps, probes[i].Sub(before).Round(time.Millisecond))
	}
	if len(gaps) > 0 {
		least, most := slices.Min(gaps), slices.Max(gaps)
		f.Measured = fmt.Sprintf("%d, %v to %v apart, at most %d in any %v", len(gaps), least, most, mostWithin(probes, recovery), recovery)
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
