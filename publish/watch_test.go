package publish_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// A watch says at every moment what a status that is read anew says.
func TestAWatchSaysWhatAStatusSays(t *testing.T) {
	f := newFleet(t)
	all := publish.StatusFilter{}
	watch, inRun := f.reader().Watch(all), f.reader().Watch(publish.StatusFilter{Run: "second"})
	same := func() publish.Status {
		t.Helper()
		want, err := f.reader().StatusOf(t.Context(), all)
		require.NoError(t, err)
		got, err := watch.Look(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = inRun.Look(t.Context())
		require.NoError(t, err)
		for _, d := range got.Documents {
			require.Equal(t, "d@run=second", d.DocumentID)
		}
		return want
	}
	require.Empty(t, same().Documents)
	for _, id := range []string{"d", "d@run=second"} {
		require.NoError(t, f.publisher(f.plan(id, file(t, "a.txt", sentences(6)))).Send(t.Context()))
	}
	same()
	messages := f.take(100)
	f.finish(messages[0], extraction.Extraction{Usage: extraction.Usage{PromptTokens: 10}})
	f.bury(messages[1], "refused")
	same()
	for _, msg := range messages[2:] {
		f.finish(msg, extraction.Extraction{})
	}
	require.Len(t, same().Documents, 2)
	require.Equal(t, 1, same().Total.DeadChunks())

	again := nats.NewMsg(messages[1].Subject())
	again.Data = messages[1].Data()
	_, err := f.js.PublishMsg(t.Context(), again)
	require.NoError(t, err)
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{})
	}
	require.Zero(t, same().Total.DeadChunks(), "replayed")

	// A version of another length takes the place of the one before.
	require.NoError(t, f.publisher(f.plan("d", file(t, "a.txt", sentences(2)))).Send(t.Context()))
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{})
	}
	same()

	one, err := f.reader().StatusOf(t.Context(), publish.StatusFilter{Documents: []string{"d"}, Run: "second"})
	require.NoError(t, err)
	require.Len(t, one.Documents, 1)
	require.Equal(t, "d@run=second", one.Documents[0].DocumentID)

	// Results that were all deleted are forgotten.
	require.NoError(t, f.js.DeleteStream(t.Context(), f.names.ResultStream()))
	require.NoError(t, wire.Ensure(t.Context(), f.js, f.names))
	require.Zero(t, same().Total.Done)
}
