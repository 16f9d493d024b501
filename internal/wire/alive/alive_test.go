package alive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

func said(t *testing.T, values ...string) []string {
	t.Helper()
	var entries []follow.Entry
	for i, value := range values {
		entries = append(entries, follow.Entry{Key: fmt.Sprint(i), Value: []byte(value)})
	}
	var shown []string
	states, strangers := alive.States(entries)
	require.Len(t, entries, len(states)+strangers)
	for _, d := range alive.Disagreements(states) {
		shown = append(shown, d.String())
	}
	return shown
}

const settings = `"circuit":"default","circuit_settings":{"failure_threshold":%d,"recovery_timeout_ms":%d,"half_open_max_calls":1}`

func TestDisagreements(t *testing.T) {
	limited := func(name string, rpm, window int) string {
		return fmt.Sprintf(`{"worker":%q,"rpm":%d,"window_ms":%d}`, name, rpm, window)
	}
	circuit := func(name string, failures, recovery int) string {
		return fmt.Sprintf(`{"worker":%q,`+settings+`}`, name, failures, recovery)
	}
	for name, c := range map[string]struct{ workers, want []string }{
		"nobody":      {nil, nil},
		"alike":       {[]string{limited("a", 60, 60000), limited("b", 60, 60000)}, nil},
		"a limit":     {[]string{limited("b", 100, 60000), limited("a", 60, 60000), limited("c", 60, 60000)}, []string{"workers were started with different --rpm: 60 (a and 1 more), 100 (b)"}},
		"a window":    {[]string{limited("a", 60, 1000), limited("b", 60, 60000)}, []string{"workers were started with different --window: 1m0s (b), 1s (a)"}},
		"none at all": {[]string{limited("a", 60, 60000), `{"worker":"b"}`}, []string{"workers were started with different --rpm: 60 (a), unlimited (b)"}},
		"tokens":      {[]string{`{"worker":"a","tpm":5,"window_ms":1}`, `{"worker":"b"}`}, []string{"workers were started with different --tpm: 5 (a), none (b)"}},
		"a circuit": {[]string{circuit("a", 5, 60000), circuit("b", 3, 1500)}, []string{
			"workers were started with different --failure-threshold of circuit default: 3 (b), 5 (a)",
			"workers were started with different --recovery-timeout of circuit default: 1.5s (b), 1m0s (a)",
		}},
		"two circuits":              {[]string{circuit("a", 5, 60000), `{"worker":"b","circuit":"other","circuit_settings":{"failure_threshold":3}}`}, nil},
		"one of an earlier version": {[]string{circuit("a", 5, 60000), `{"worker":"b","circuit":"default"}`}, nil},
		"one that has stopped":      {[]string{limited("a", 60, 60000), `{"worker":"b","state":"stopped","rpm":1}`}, nil},
		"what makes no sense":       {[]string{limited("a", 60, 60000), `[`, `{"rpm":7}`, `{"worker":"b","circuit_settings":7}`}, nil},
	} {
		require.Equal(t, c.want, said(t, c.workers...), name)
	}
}

// Somebody may have as many values as workers.
func TestValuesAreBounded(t *testing.T) {
	var workers []wire.WorkerState
	for i := range 1000 {
		workers = append(workers, wire.WorkerState{Worker: fmt.Sprintf("w%04d", i), RPM: int64(i + 1)})
	}
	all := alive.Disagreements(workers)
	require.Len(t, all, 1)
	require.Len(t, all[0].Values, 8)
}
