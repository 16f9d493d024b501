package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// spread is n times with a step between them.
func spread(from, step time.Duration, n int) []time.Time {
	var times []time.Time
	for i := range n {
		times = append(times, start.Add(from+time.Duration(i)*step))
	}
	return times
}

// admitted are spans of calls that were admitted at these times, and arrived so
// much later.
func admitted(late time.Duration, times ...time.Time) []span {
	var known []span
	for _, at := range times {
		known = append(known, span{at, at.Add(late)})
	}
	return known
}

func TestWindowCheckBites(t *testing.T) {
	const width, soon = 5 * time.Second, 3 * time.Millisecond
	full := admitted(soon, spread(0, 10*time.Millisecond, 50)...)
	with := func(more ...span) []span { return slices.Concat(full, more) }
	require.Equal(t, kept, checkWindow(with(admitted(soon, spread(width, 10*time.Millisecond, 50)...)...), 50, width).Verdict)
	require.Equal(t, broken, checkWindow(with(admitted(soon, start.Add(width/2))...), 50, width).Verdict, "one too many")
	require.Equal(t, broken, checkWindow(with(admitted(soon, start.Add(width-2*soon))...), 50, width).Verdict, "just too early")
	require.Equal(t, broken, checkWindow(slices.Concat(admitted(soon, start.Add(width/2)), full), 50, width).Verdict, "whatever the order")
	require.Equal(t, broken, checkWindow(nil, 50, width).Verdict, "nothing was seen")

	// Some that came late are no proof, and told.
	late := slices.Concat(admitted(time.Second, spread(0, 10*time.Millisecond, 50)...), admitted(soon, start.Add(width)))
	f := checkWindow(late, 50, width)
	require.Equal(t, kept, f.Verdict)
	require.Contains(t, f.Measured, "50 of 51; arrived: 51, up to 1s after they began")
}

func TestSpansAreOfFinishedChunks(t *testing.T) {
	calls := []call{{of: a, at: start.Add(2)}, {of: chunk{"t", "in flight"}, at: start.Add(3)}}
	require.Equal(t, []span{{start.Add(1), start.Add(2)}}, spans(calls, outcomes{results: []result{{of: a, started: start.Add(1), at: start.Add(9)}}}))
}

func TestUseCheckBites(t *testing.T) {
	const width = 5 * time.Second
	require.Equal(t, kept, checkUsed(spread(0, 100*time.Millisecond, 97), 50, width, 2).Verdict)
	require.Equal(t, broken, checkUsed(spread(0, 100*time.Millisecond, 96), 50, width, 2).Verdict)
	require.Equal(t, broken, checkUsed(spread(0, time.Second, 1000), 50, width, 2).Verdict, "what comes later does not count")
	require.Equal(t, broken, checkUsed(nil, 50, width, 2).Verdict)
}

func TestDeliveryCheckBites(t *testing.T) {
	require.Equal(t, kept, checkDeliveries(115, 100).Verdict)
	require.Equal(t, broken, checkDeliveries(116, 100).Verdict)
	require.Equal(t, broken, checkDeliveries(99, 100).Verdict, "some were not seen")
	require.Equal(t, broken, checkDeliveries(0, 0).Verdict)
}

func TestStartCheckBites(t *testing.T) {
	fast, slow := 5*time.Millisecond, 101*time.Millisecond
	require.Equal(t, kept, checkStarts([]time.Duration{slow, fast, fast}, 0).Verdict)
	require.Equal(t, broken, checkStarts([]time.Duration{slow, fast, slow}, 0).Verdict)
	require.Equal(t, broken, checkStarts([]time.Duration{fast, fast, slow}, 1).Verdict)
	require.Equal(t, broken, checkStarts(nil, 0).Verdict)
}

var a, b, c = chunk{"t", "a"}, chunk{"t", "b"}, chunk{"t", "c"}

// good are outcomes of a and b with results and c with a dead letter.
func good() outcomes {
	return outcomes{results: []result{{of: a, at: start}, {of: b, at: start}}, resultsStored: 2, dead: []letter{{c, "refused"}}, deadStored: 1}
}

func TestExactlyOnceCheckBites(t *testing.T) {
	published := []chunk{a, b, c}
	require.Equal(t, kept, checkOnce(published, good()).Verdict)
	require.Equal(t, broken, checkOnce(nil, outcomes{}).Verdict, "nothing was published")
	for what, wrong := range map[string]func(*outcomes){
		"a chunk is lost":           func(o *outcomes) { o.results, o.resultsStored = o.results[:1], 1 },
		"a dead letter is lost":     func(o *outcomes) { o.dead, o.deadStored = nil, 0 },
		"a result and a letter":     func(o *outcomes) { o.dead, o.deadStored = append(o.dead, letter{a, "refused"}), 2 },
		"two letters":               func(o *outcomes) { o.dead, o.deadStored = append(o.dead, o.dead[0]), 2 },
		"a result is stored again":  func(o *outcomes) { o.resultsStored = 3 },
		"a letter is stored again":  func(o *outcomes) { o.deadStored = 2 },
		"of a chunk nobody knows":   func(o *outcomes) { o.results[0].of = chunk{"u", "a"} },
		"a chunk that still waits":  func(o *outcomes) { o.waiting = 1 },
		"one lost and one of twice": func(o *outcomes) { o.results[0].of = b },
	} {
		o := good()
		wrong(&o)
		require.Equal(t, broken, checkOnce(published, o).Verdict, what)
	}
}

func TestDeadLetterCheckBites(t *testing.T) {
	want := map[chunk]string{c: "refused"}
	require.Equal(t, kept, checkLetters(want, good()).Verdict)
	require.Equal(t, broken, checkLetters(nil, good()).Verdict, "none was expected")
	require.Equal(t, broken, checkLetters(map[chunk]string{c: "empty"}, good()).Verdict, "another kind")
	require.Equal(t, broken, checkLetters(map[chunk]string{a: "refused", c: "refused"}, good()).Verdict, "one is missing")
	require.Equal(t, broken, checkLetters(map[chunk]string{a: "refused"}, good()).Verdict, "of another chunk")
	require.Equal(t, kept, checkLetters(nil, outcomes{}).Verdict)
}

func TestNobodyIsAskedWhatHeDoesNotHave(t *testing.T) {
	for design, findings := range map[string]int{ours: 2, literalID: 1, literalPlain: 0} {
		require.Len(t, (&world{design: design}).checkRest(nil, outcomes{}), findings, design)
	}
}

func TestRepetitionCheckBites(t *testing.T) {
	before, after := call{of: a, at: start.Add(-time.Second)}, call{of: a, at: start.Add(1100 * time.Millisecond)}
	require.Equal(t, kept, checkNotRepeated([]call{before}, good(), 0).Verdict)
	require.Equal(t, broken, checkNotRepeated([]call{before, after}, good(), 0).Verdict)
	require.Equal(t, kept, checkNotRepeated([]call{before, after}, good(), 1).Verdict)
	require.Equal(t, broken, checkNotRepeated(nil, good(), 0).Verdict)
}

func TestProbeChecksBite(t *testing.T) {
	const recovery = 2 * time.Second
	soon := start.Add(recovery) // after the circuit opened
	require.Equal(t, kept, checkProbes(start, spread(recovery, recovery+100*time.Millisecond, 3), recovery).Verdict)
	require.Equal(t, broken, checkProbes(start, spread(recovery-time.Millisecond, recovery, 3), recovery).Verdict, "the first is too early")
	require.Equal(t, broken, checkProbes(start, spread(recovery, recovery-time.Millisecond, 3), recovery).Verdict, "they are too early")
	require.Equal(t, broken, checkProbes(start, spread(recovery, 2*recovery, 3), recovery).Verdict, "too late")
	require.Equal(t, broken, checkProbes(start, nil, recovery).Verdict)
	twice := checkProbes(start, []time.Time{soon, soon.Add(1), soon.Add(recovery + 1), soon.Add(2 * recovery)}, recovery)
	require.Equal(t, broken, twice.Verdict)
	require.Contains(t, twice.Measured, "4, 0s to 2s apart, at most 2 in any 2s")

	fails, works := call{at: start.Add(1), status: 500}, call{at: start.Add(1), status: 200}
	require.Equal(t, kept, checkRecovery([]call{works}, start).Verdict)
	require.Equal(t, broken, checkRecovery([]call{fails, works}, start).Verdict)
	require.Equal(t, broken, checkRecovery([]call{works}, start.Add(time.Second)).Verdict, "nobody has asked since")
}

func TestCoolingCheckBites(t *testing.T) {
	const cooling = 2 * time.Second
	at := func(d time.Duration, worker string, status int, of chunk) call {
		return call{of: of, worker: worker, at: start.Add(d), done: start.Add(d), status: status}
	}
	refusal := at(0, "w", 429, a)
	verdictOf := func(calls ...call) string { return checkCooling(calls, outcomes{}, cooling).Verdict }
	require.Equal(t, broken, verdictOf(), "none was refused")
	require.Equal(t, kept, verdictOf(refusal, at(cooling+1, "w", 200, a)))
	require.Equal(t, broken, verdictOf(refusal, at(cooling-1, "v", 200, b)))
	require.Equal(t, broken, verdictOf(refusal, at(time.Second, "w", 200, a)), "the refused chunk itself")
	require.Equal(t, kept, verdictOf(refusal, at(time.Second, "v", 200, chunk{"u", "a"})), "another tenant")
	require.Equal(t, kept, verdictOf(at(-1, "v", 500, b), refusal, at(time.Second, "v", 200, b)), "a retry")
	require.Equal(t, broken, verdictOf(at(-1, "u", 500, b), refusal, at(time.Second, "v", 200, b)), "somebody else's")

	late := []call{refusal, at(time.Second, "v", 200, b)}
	began := func(d time.Duration) outcomes { return outcomes{results: []result{{of: b, started: start.Add(d)}}} }
	require.Equal(t, kept, checkCooling(late, began(-1), cooling).Verdict, "it was on its way")
	require.Equal(t, broken, checkCooling(late, began(heard), cooling).Verdict)
	require.Equal(t, broken, checkCooling(late, began(3*cooling), cooling).Verdict, "of a later attempt")
}

func TestChunkIsKnownByItsText(t *testing.T) {
	require.Equal(t, chunk{"tenant-7", "tenant-7-42"}, chunkOf(text("tenant-7", 42)))
	require.Equal(t, chunk{}, chunkOf("Ada Lovelace met Charles Babbage."))
}

func TestReportSaysWhatIsBroken(t *testing.T) {
	r := report{Form: "short", Seed: 7, Findings: []finding{{"kills", ours, "p", "m", "<= 1", broken}}}
	var table, encoded bytes.Buffer
	require.NoError(t, r.writeTable(&table))
	require.Contains(t, table.String(), "kills     ours    p        m         <= 1  BROKEN")
	require.Contains(t, table.String(), "-seed 7")
	require.NoError(t, r.writeJSON(&encoded))
	require.Contains(t, encoded.String(), `"bar": "<= 1"`)
}

func TestChoice(t *testing.T) {
	all, err := choose(options{designs: ours})
	require.NoError(t, err)
	require.Len(t, all, len(scenarios()))
	both, err := choose(options{designs: "both", names: "window, kills"})
	require.NoError(t, err)
	require.Len(t, both, 3+3, "each with what it is compared with")
	for _, wrong := range []options{{designs: "mine"}, {designs: ours, names: "windows"}, {designs: literalPlain, names: "away"}} {
		_, err := choose(wrong)
		require.Error(t, err)
	}
}

func TestUsage(t *testing.T) {
	for args, code := range map[string]int{"-h": 0, "-nonsense": 2, "-run nobody": 2, "-design mine": 2, "window": 2, "-parallel -1": 2} {
		var out, errOut bytes.Buffer
		require.Equal(t, code, run(t.Context(), strings.Fields(args), &out, &errOut), args)
		require.Empty(t, out.String())
		require.NotEmpty(t, errOut.String())
	}
}
