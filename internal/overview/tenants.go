package overview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/limits"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// row is a tenant while it is put together.
type row struct {
	Tenant
	token string
}

// gather makes a row for every tenant that anything is known of.
func (r *Reader) gather(paused []pauses.Pause) map[string]*row {
	rows := map[string]*row{}
	of := func(token string) *row {
		t := rows[token]
		if t == nil {
			name, err := wire.DecodeToken(token)
			if err != nil {
				name = token // of a message that was set aside for that
			}
			t = &row{Tenant: Tenant{Tenant: name}, token: token}
			rows[token] = t
		}
		return t
	}
	for token, n := range r.chunks.of {
		of(token).Waiting = n
	}
	for token, n := range r.documents.of {
		of(token).DocumentsWaiting = n
	}
	for token, n := range r.dead.of {
		of(token).Dead = n
	}
	for token := range r.results.of {
		of(token)
	}
	for token := range r.results.counted {
		of(token) // seen before, and the views show it on
	}
	for token := range r.own {
		of(token)
	}
	for _, p := range paused {
		if !p.Fleet {
			of(wire.EncodeToken(p.Tenant))
		}
	}
	for _, key := range r.survey.Keys() {
		if wire.IsProbe(key) { // of worker check, and soon gone
			continue
		}
		of(wire.EncodeToken(key))
	}
	if r.only != "" {
		return map[string]*row{r.only: of(r.only)}
	}
	return rows
}

// first returns the rows with most waiting.
func first(rows map[string]*row, most int) []*row {
	all := make([]*row, 0, len(rows))
	for _, t := range rows {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.DocumentsWaiting, a.DocumentsWaiting), strings.Compare(a.Tenant.Tenant, b.Tenant.Tenant))
	})
	return all[:min(most, len(all))]
}

// limitsOf are a tenant's own limits, or else those that the workers have.
func (r *Reader) limitsOf(t *row, base resilience.Limits) resilience.Limits {
	if value, ok := r.own[t.token]; ok {
		if own, err := limits.Parse(value, base); err == nil {
			return own
		}
	}
	return base
}

// allow says what a tenant may use, has used, and whether it has to wait.
func (r *Reader) allow(t *row, base resilience.Limits, paused map[string]time.Time, circuitOpen bool, at time.Time) {
	granted := r.limitsOf(t, base)
	if granted.Window == 0 {
		granted.Window = resilience.DefaultWindow
	}
	quota := kvcache.Quota{Window: granted.Window, Requests: granted.Requests, Tokens: granted.Tokens}
	if quota.Requests == resilience.Unlimited {
		quota.Requests = 0
	}
	t.RPM, t.TPM = quota.Requests, quota.Tokens
	limited := quota.Requests > 0 || quota.Tokens > 0
	if limited {
		t.WindowMS = quota.Window.Milliseconds()
	}
	wait := func(reason WaitReason, until *time.Time) {
		if t.WaitReason == NotWaiting {
			t.WaitReason, t.WaitUntil = reason, until
		}
	}
	in := func(d time.Duration) *time.Time {
		until := at.Add(d).UTC().Truncate(time.Millisecond)
		return &until
	}
	if until, ok := later(paused[pauses.Pause{Fleet: true}.Key()], paused[pauses.Pause{Tenant: t.Tenant.Tenant}.Key()]); ok {
		wait(Paused, &until)
	}
	if circuitOpen {
		wait(Open, nil)
	}
	if !r.surveyed || !r.survey.There() {
		return
	}
	standing, cooling, err := r.survey.Standing(t.Tenant.Tenant, quota)
	if err != nil {
		return // limits that mean nothing
	}
	if limited {
		used := standing.Requests
		t.Used = &used
		if quota.Tokens > 0 {
			tokens := standing.Tokens
			t.UsedTokens = &tokens
		}
	}
	switch {
	case cooling > 0:
		wait(Cooling, in(cooling))
	case standing.RetryAfter > 0:
		wait(Limit, in(standing.RetryAfter))
	}
}

func later(a, b time.Time) (time.Time, bool) {
	if b.After(a) {
		a = b
	}
	return a, !a.IsZero()
}
