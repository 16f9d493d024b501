package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// faulty: the model server is slow, fails now and then, says that it is asked too
// often, and answers some chunks with what is no answer. Every chunk of every
// tenant gets its result, or the dead letter that it deserves.
func faulty(ctx context.Context, w *world) ([]finding, error) {
	const cooling = 2 * time.Second
	tenants, each := 6, 30
	if !w.form.short {
		tenants, each = 12, 300
	}
	fates, err := w.drawFates(tenants, each)
	if err != nil {
		return nil, err
	}
	tooMany, err := modelserver.Named("rate_limited")
	if err != nil {
		return nil, err
	}
	tooMany = tooMany.WithHeader("Retry-After", fmt.Sprint(cooling.Seconds()))
	asked := map[chunk]int{}
	hurried := 0
	w.model.behaves(func(r modelserver.Request) modelserver.Behaviour {
		c := chunkOf(r.Text)
		if c.tenant == hurriedTenant {
			if hurried++; hurried%10 == 0 {
				return tooMany
			}
		}
		asked[c]++
		return fates[c].answer(asked[c])
	})
	err = w.startWorkers(ctx, 4, "--rpm", "unlimited", "--concurrency", "4", "--max-retries", "2", "--max-attempts", "3", "--failure-threshold", "20", "--recovery-timeout", "1s")
	if err != nil {
		return nil, err
	}
	var published []chunk
	for i := range tenants {
		more, err := w.client.publish(ctx, tenantName(i), 0, each)
		if err != nil {
			return nil, err
		}
		published = append(published, more...)
	}
	o, err := w.settled(ctx, len(published))
	if err != nil {
		return nil, err
	}
	calls := w.model.calls()
	want := map[chunk]string{}
	for c, f := range fates {
		if f.kind != "" {
			want[c] = f.kind
		}
	}
	return []finding{
		checkOnce(published, o), checkLetters(want, o), checkNotRepeated(calls, o, 0), checkCooling(calls, o, cooling),
	}, nil
}

const hurriedTenant = "tenant-0" // the one that is told to come later

func tenantName(i int) string { return fmt.Sprintf("tenant-%d", i) }

// fate is what happens to the calls about one chunk.
type fate struct {
	first []modelserver.Behaviour // one after the other
	then  modelserver.Behaviour   // and for ever
	kind  string                  // of the dead letter that it comes to, "" = a result
}

func (f fate) answer(nth int) modelserver.Behaviour {
	if nth <= len(f.first) {
		return f.first[nth-1]
	}
	return f.then
}

// hopeless are answers that no repetition mends, and what becomes of the chunk.
func hopeless() map[string]string {
	return map[string]string{
		"prose": "malformed", "list": "malformed", "truncated_json": "malformed", "empty": "empty", "length": "truncated", "refusal": "refused",
		"context_openai": "context_too_long", "bad_request": "invalid_request", "server_error": "attempts_exhausted", "ok_html": "attempts_exhausted",
	}
}

// drawFates decides for each chunk: most are answered at once, some slowly, some
// after one or two failures, and a few never.
func (w *world) drawFates(tenants, each int) (map[chunk]fate, error) {
	failures := []string{"server_error", "bad_gateway", "reset", "cut_body", "ok_html", "ok_error", "overloaded"}
	never := hopeless()
	names := slices.Sorted(maps.Keys(never))
	fates := map[chunk]fate{}
	for t := range tenants {
		for i := range each {
			f := fate{then: modelserver.Behaviour{}.WithDelay(time.Duration(10+w.rnd.IntN(90)) * time.Millisecond)}
			var err error
			switch draw := w.rnd.IntN(100); {
			case draw < 8:
				name := names[w.rnd.IntN(len(names))]
				f.kind = never[name]
				f.then, err = modelserver.Named(name)
			case draw < 22:
				for range 1 + w.rnd.IntN(2) {
					var failure modelserver.Behaviour
					failure, err = modelserver.Named(failures[w.rnd.IntN(len(failures))])
					f.first = append(f.first, failure)
				}
			case draw < 32:
				f.then = f.then.WithDelay(time.Duration(300+w.rnd.IntN(1200)) * time.Millisecond)
			}
			if err != nil {
				return nil, err
			}
			fates[chunk{tenantName(t), document(tenantName(t), i)}] = f
		}
	}
	return fates, nil
}

// heard is how long it may take until every worker knows of a refusal.
const heard = 200 * time.Millisecond

// checkCooling: after a 429 with Retry-After the whole fleet leaves the tenant
// alone for so long: no call arrives in that time whose worker began with the chunk in
// it. Told apart are retries: the same worker had asked about the chunk before, was
// admitted then, and repeats what failed.
func checkCooling(calls []call, o outcomes, cooling time.Duration) finding {
	started := map[chunk]time.Time{}
	for _, r := range o.results {
		started[r.of] = r.started
	}
	begun := func(c call) time.Time {
		if at, ok := started[c.of]; ok && at.Before(c.at) {
			return at
		}
		return c.at // it has no result, or that is of a later attempt
	}
	refusals, early, retries := 0, 0, 0
	for _, refusal := range calls {
		if refusal.status != 429 {
			continue
		}
		refusals++
		failed := map[call]bool{} // of and worker only
		for _, c := range calls {
			who := call{of: c.of, worker: c.worker}
			switch {
			case c.of.tenant != refusal.of.tenant:
			case begun(c).Before(refusal.done.Add(heard)):
				failed[who] = c.status != 429 && c.status != 200
			case c.at.After(refusal.done.Add(cooling)):
			case failed[who]:
				retries++
			default:
				early++
			}
		}
	}
	return finding{
		Promise:  "a 429 keeps the fleet from that tenant",
		Measured: fmt.Sprintf("%d refusals, %d calls within the %v that they said, and %d retries of failed ones", refusals, early, cooling, retries),
		Bar:      "0 calls", Verdict: verdict(refusals > 0 && early == 0),
	}
}
