package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// Whatever the model server can be told to do, this scenario does; what only shows
// in event streams, where all workers ask for these.
func TestTheCatalogueIsComplete(t *testing.T) {
	for _, answers := range []string{plain, mixed, streamed} {
		checkComplete(t, answers)
	}
}

func checkComplete(t *testing.T, answers string) {
	lasting, passing := lasting(answers), passing(answers)
	for _, name := range modelserver.Names() {
		if answers != streamed && strings.HasPrefix(name, "stream_") {
			continue
		}
		_, ends := lasting[name]
		require.True(t, ends || passing[name] > 0, "%s is not among what a server may do to a chunk", name)
	}
	for name := range lasting {
		require.Contains(t, modelserver.Names(), name)
	}
	for name := range passing {
		require.Contains(t, modelserver.Names(), name)
	}
}

func TestEveryWayIsDrawn(t *testing.T) {
	w := &world{rnd: rand.New(rand.NewPCG(1, 2)), answers: streamed}
	fates, err := w.drawAnyFates(20, 500)
	require.NoError(t, err)
	require.Len(t, fates, 10_000)
	seen, kinds := map[string]int{}, map[string]int{}
	for _, f := range fates {
		for _, b := range append(f.first, f.then) {
			seen[b.Name]++
		}
		kinds[f.kind]++
	}
	require.Equal(t, kept, checkSeen(streamed, seen, 0).Verdict)
	delete(seen, "blank")
	require.Equal(t, broken, checkSeen(streamed, seen, 0).Verdict)
	require.Equal(t, kept, checkSeen(streamed, seen, 1).Verdict)
	for _, kind := range []string{"malformed", "empty", "refused", "truncated", "context_too_long", "invalid_request", "attempts_exhausted", "deadline", ""} {
		require.NotZero(t, kinds[kind], kind)
	}
}
