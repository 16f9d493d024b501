package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// fewResults is up to how many results their subjects are read: 100 bytes each.
	fewResults = 20_000
	// countingTime bounds the counting of one tenant after the other: a count of a
	// million results takes the server about 100 ms.
	countingTime = 200 * time.Millisecond
)

// results are how many each tenant has, as far as they were counted.
type results struct {
	mark    mark
	few     bool              // of holds all tenants that have any
	of      map[string]uint64 // by token
	counted map[string]tally  // where there are many
}

// tally is a count, and the stream's state that it is right for.
type tally struct {
	n    uint64
	mark mark
	at   time.Time
}

// lookAtResults learns whose results there are, if there are few, and how many in all.
func (r *Reader) lookAtResults(ctx context.Context) error {
	stream, err := r.js.Stream(ctx, r.names.ResultStream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		r.results = results{few: true}
		return nil
	}
	if err != nil {
		return &ReadError{"stream " + r.names.ResultStream(), err}
	}
	now, before := markOf(stream.CachedInfo()), r.results
	switch {
	case now.count > r.few, r.only != "":
		r.results = results{mark: now, counted: before.counted}
		if before.few { // they are shown on
			r.results.counted = make(map[string]tally, len(before.of))
			for token, n := range before.of {
				r.results.counted[token] = tally{n: n, mark: before.mark}
			}
		}
		return nil
	case before.few && now == before.mark:
		return nil
	}
	prefix := r.names.Namespace() + ".results."
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return &ReadError{"stream " + r.names.ResultStream(), err}
	}
	r.results = results{mark: now, few: true, of: map[string]uint64{}}
	for subject, n := range info.State.Subjects {
		if rest, ok := strings.CutPrefix(subject, prefix); ok {
			token, _, _ := strings.Cut(rest, ".")
			r.results.of[token] += n
		}
	}
	return nil
}

// countResults says of the listed tenants how many results they have. Where there
// are many, those are counted again that were not for longest.
func (r *Reader) countResults(ctx context.Context, tenants []*row) error {
	if r.results.few {
		for _, t := range tenants {
			n := r.results.of[t.token]
			t.Results = &n
		}
		return nil
	}
	counted := make(map[string]tally, len(tenants))
	var stale []*row
	for _, t := range tenants {
		if c, ok := r.results.counted[t.token]; ok {
			counted[t.token] = c
		}
		if counted[t.token].mark != r.results.mark {
			stale = append(stale, t)
		}
	}
	slices.SortStableFunc(stale, func(a, b *row) int { return counted[a.token].at.Compare(counted[b.token].at) })
	began := time.Now()
	for _, t := range stale {
		if time.Since(began) > countingTime {
			break
		}
		n, known, err := r.countOf(ctx, t.token)
		if err != nil {
			return err
		}
		if known {
			counted[t.token] = tally{n, r.results.mark, time.Now()}
		}
	}
	r.results.counted = counted
	for _, t := range tenants {
		if c, ok := counted[t.token]; ok {
			t.Results = &c.n
		}
	}
	return nil
}

// countOf asks how many results a tenant has: for the first of them, and how many are
// behind it. It is not known where the stream does not allow such questions.
func (r *Reader) countOf(ctx context.Context, token string) (n uint64, known bool, err error) {
	filter := r.names.Namespace() + ".results." + token + ".*.*"
	answer, err := r.js.Conn().RequestMsgWithContext(ctx, &nats.Msg{
		Subject: r.api + "DIRECT.GET." + r.names.ResultStream(),
		Data:    fmt.Appendf(nil, `{"seq":1,"next_by_subj":%q,"batch":1}`, filter),
	})
	if errors.Is(err, nats.ErrNoResponders) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, &ReadError{"stream " + r.names.ResultStream(), err}
	}
	switch answer.Header.Get("Status") {
	case "":
	case "404":
		return 0, true, nil
	default:
		return 0, false, nil
	}
	behind, err := strconv.ParseUint(cmp.Or(answer.Header.Get("Nats-Num-Pending"), "0"), 10, 64)
	return behind + 1, err == nil, nil
}
