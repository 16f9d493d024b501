package main

import (
	"fmt"
	"slices"
	"time"
)

// chunk is one that was published: each is a document of its own.
type chunk struct{ tenant, document string }

// call is a request that came to the model server.
type call struct {
	of     chunk
	worker string
	at     time.Time
	done   time.Time // zero while it lasts
	status int       // 0 if nothing was sent
}

type result struct {
	of      chunk
	started time.Time // as it says itself
	at      time.Time // when the stream took it
}

type letter struct {
	of   chunk
	kind string
}

// outcomes are what the streams hold.
type outcomes struct {
	results       []result // the newest of each chunk
	resultsStored uint64   // that the stream ever took, replaced ones included
	dead          []letter
	deadStored    uint64
	waiting       uint64 // chunks
}

// checkOnce: every chunk has either one result or one dead letter, stored once.
func checkOnce(published []chunk, o outcomes) finding {
	ends := map[chunk]int{}
	for _, c := range published {
		ends[c] = 0
	}
	unknown := 0
	end := func(c chunk) {
		if _, ok := ends[c]; !ok {
			unknown++
			return
		}
		ends[c]++
	}
	for _, r := range o.results {
		end(r.of)
	}
	for _, l := range o.dead {
		end(l.of)
	}
	lost, twice := 0, 0
	for _, n := range ends {
		switch {
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	replaced := int(o.resultsStored) - len(o.results) + int(o.deadStored) - len(o.dead)
	return finding{
		Promise:  "every chunk ends exactly once",
		Measured: fmt.Sprintf("%d chunks: %d results, %d dead; %d lost, %d twice, %d stored again, %d unknown, %d left", len(published), len(o.results), len(o.dead), lost, twice, replaced, unknown, o.waiting),
		Bar:      "none lost, twice, stored again, left",
		Verdict:  verdict(len(published) > 0 && lost == 0 && twice == 0 && unknown == 0 && replaced == 0 && o.waiting == 0),
	}
}

// checkLetters: the dead letters are those of the chunks in want, of these kinds,
// and no other.
func checkLetters(want map[chunk]string, o outcomes) finding {
	wrong, got := 0, map[chunk]bool{}
	example := ""
	for _, l := range o.dead {
		got[l.of] = true
		if kind, ok := want[l.of]; !ok || kind != l.kind {
			wrong++
			example = fmt.Sprintf("; %s is %s instead of %q", l.of.document, l.kind, kind)
		}
	}
	missing := 0
	for c := range want {
		if !got[c] {
			missing++
		}
	}
	return finding{
		Promise:  "dead letters of the right kind, and only those",
		Measured: fmt.Sprintf("%d letters, %d wrong, %d missing%s", len(o.dead), wrong, missing, example),
		Bar:      fmt.Sprintf("%d, all right", len(want)),
		Verdict:  verdict(wrong == 0 && missing == 0),
	}
}

// checkNotRepeated: nobody asks about a chunk whose result exists. Who has looked
// just before the result was stored may still ask, and so may a worker that was
// paused between the two: at most forgiven such calls.
func checkNotRepeated(calls []call, o outcomes, forgiven int) finding {
	const late = time.Second
	stored := map[chunk]time.Time{}
	for _, r := range o.results {
		stored[r.of] = r.at
	}
	repeated := 0
	for _, c := range calls {
		if at, ok := stored[c.of]; ok && c.at.After(at.Add(late)) {
			repeated++
		}
	}
	return finding{
		Promise:  "no call for a chunk that has its result",
		Measured: fmt.Sprintf("%d of %d calls more than %v after it", repeated, len(calls), late),
		Bar:      fmt.Sprintf("<= %d", forgiven),
		Verdict:  verdict(len(calls) > 0 && repeated <= forgiven),
	}
}

// span is what is known from outside of when a call was admitted: after its worker
// had begun with the chunk, and before it came to the model server.
type span struct{ from, to time.Time }

// spans are those of the calls that have a result.
func spans(calls []call, o outcomes) []span {
	started := map[chunk]time.Time{}
	for _, r := range o.results {
		started[r.of] = r.started
	}
	var known []span
	for _, c := range calls {
		if from, ok := started[c.of]; ok {
			known = append(known, span{from, c.at})
		}
	}
	return known
}

// checkWindow: no window has more than limit admissions. What is promised is a
// limit on admissions, and a call may arrive some time after its own. So those are
// counted that were certainly admitted in the same window: begun in it, and arrived
// in it. However busy the machine is, that is never too many by mistake. It
// also tells how many arrived within a window, whenever they were admitted, and how
// long they took to.
func checkWindow(known []span, limit int, width time.Duration) finding {
	most, latest, came := 0, time.Duration(0), make([]time.Time, 0, len(known))
	for _, first := range known {
		came, latest = append(came, first.to), max(latest, first.to.Sub(first.from))
		n, end := 0, first.from.Add(width)
		for _, other := range known {
			if !other.from.Before(first.from) && other.to.Before(end) {
				n++
			}
		}
		most = max(most, n)
	}
	return finding{
		Promise:  fmt.Sprintf("at most %d calls admitted in any %v", limit, width),
		Measured: fmt.Sprintf("most begun and arrived in %v: %d of %d; arrived: %d, up to %v after they began", width, most, len(known), mostWithin(came, width), latest.Round(time.Millisecond)),
		Bar:      fmt.Sprintf("<= %d begun and arrived", limit),
		Verdict:  verdict(len(known) > 0 && most <= limit),
	}
}

// checkUsed: of the allowance of so many windows since the first arrival, 97 % is
// used.
func checkUsed(arrivals []time.Time, limit int, width time.Duration, windows int) finding {
	n := 0
	if len(arrivals) > 0 {
		end := slices.MinFunc(arrivals, time.Time.Compare).Add(time.Duration(windows) * width)
		for _, at := range arrivals {
			if at.Before(end) {
				n++
			}
		}
	}
	share := float64(n) / float64(limit*windows)
	return finding{
		Promise:  "the allowance is used",
		Measured: fmt.Sprintf("%.1f %% of %d windows", 100*share, windows),
		Bar:      ">= 97 %",
		Verdict:  verdict(share >= 0.97),
	}
}

// checkDeliveries: what is delivered is done, but for 15 %.
func checkDeliveries(deliveries, finished int) finding {
	per := float64(deliveries) / float64(max(finished, 1))
	return finding{
		Promise:  "what is delivered can start",
		Measured: fmt.Sprintf("%.2f deliveries per finished chunk (%d of %d)", per, deliveries, finished),
		Bar:      "<= 1.15",
		Verdict:  verdict(finished > 0 && deliveries >= finished && per <= 1.15),
	}
}

// checkStarts: the time from stored to the model. A chunk that never came counts as
// the time that was waited for it.
func checkStarts(starts []time.Duration, missing int) finding {
	const bar = 100 * time.Millisecond
	if len(starts) == 0 {
		return finding{Promise: "another tenant's chunk starts", Measured: "none was tried", Bar: "p50 <= 100ms", Verdict: broken}
	}
	sorted := slices.Sorted(slices.Values(starts))
	p50, most := sorted[len(sorted)/2], sorted[len(sorted)-1]
	measured := fmt.Sprintf("p50 %v, most %v of %d", p50.Round(100*time.Microsecond), most.Round(100*time.Microsecond), len(sorted))
	if missing > 0 {
		measured = fmt.Sprintf("%d of %d did not within %v", missing, len(sorted), most.Round(time.Second))
	}
	return finding{Promise: "another tenant's chunk starts", Measured: measured, Bar: fmt.Sprintf("p50 <= %v", bar), Verdict: verdict(missing == 0 && p50 <= bar)}
}

// mostWithin is the largest number of arrivals in a half-open span.
func mostWithin(arrivals []time.Time, width time.Duration) int {
	sorted := slices.SortedFunc(slices.Values(arrivals), time.Time.Compare)
	most, first := 0, 0
	for i, at := range sorted {
		for at.Sub(sorted[first]) >= width {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
