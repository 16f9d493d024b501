package publish_test

import (
	"math"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish"
)

func TestStatusCountsEveryFate(t *testing.T) {
	f := newFleet(t)
	plan := f.plan("d", file(t, "a.txt", sentences(6)))
	require.NoError(t, f.publisher(plan).Send(t.Context()))
	messages := f.take(4)
	f.finish(messages[0], extraction.Extraction{Usage: extraction.Usage{PromptTokens: 10, CompletionTokens: 3}})
	f.finish(messages[1], extraction.Extraction{Status: extraction.StatusPartial, Usage: extraction.Usage{PromptTokens: 7, CompletionTokens: 2}})
	f.bury(messages[2], "refused")

	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(plan.Chunks-3), status.WaitingChunks)
	require.Len(t, status.Documents, 1)
	d := status.Documents[0]
	require.Equal(t, "d", d.DocumentID)
	require.Equal(t, plan.Chunks, d.Chunks)
	require.Equal(t, 2, d.Done)
	require.Equal(t, 1, d.Partial)
	require.Equal(t, map[string]int{"refused": 1}, d.Dead)
	require.Equal(t, plan.Chunks-3, d.Waiting)
	require.Equal(t, extraction.Usage{PromptTokens: 17, CompletionTokens: 5}, d.Usage)

	// A replayed chunk is done, not dead.
	again := nats.NewMsg(messages[2].Subject())
	again.Data = messages[2].Data()
	_, err = f.js.PublishMsg(t.Context(), again)
	require.NoError(t, err)
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{})
	}
	f.finish(messages[3], extraction.Extraction{})
	status, err = f.reader().Status(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, plan.Chunks, status.Documents[0].Done)
	require.Empty(t, status.Documents[0].Dead)
	require.Zero(t, status.WaitingChunks)
}

func TestStatusKeepsTenantsAndDocumentsApart(t *testing.T) {
	f := newFleet(t)
	for _, id := range []string{"a.*", "b >", "ü"} {
		require.NoError(t, f.publisher(f.plan(id, file(t, "a.txt", "Ada met "+id))).Send(t.Context()))
	}
	other := nats.NewMsg(f.names.ChunkSubject("another"))
	other.Data = []byte(`{"document_id":"x","text":"Ada."}`)
	_, err := f.js.PublishMsg(t.Context(), other)
	require.NoError(t, err)
	for _, msg := range f.take(10) {
		f.finish(msg, extraction.Extraction{})
	}
	all, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Len(t, all.Documents, 3)
	one, err := f.reader().Status(t.Context(), "b >")
	require.NoError(t, err)
	require.Len(t, one.Documents, 1)
	none, err := f.reader().Status(t.Context(), "unknown")
	require.NoError(t, err)
	require.Empty(t, none.Documents)
}

// Chunks written by hand have no total: each counts, whatever the order.
func TestStatusOfChunksWithoutTotals(t *testing.T) {
	f := newFleet(t)
	for _, body := range []string{`{"document_id":"d","index":2,"text":"C."}`, `{"document_id":"d","index":0,"text":"A."}`, `{"document_id":"d","index":1,"text":"B."}`} {
		_, err := f.js.Publish(t.Context(), f.names.ChunkSubject("acme co."), []byte(body))
		require.NoError(t, err)
	}
	for _, msg := range f.take(10) {
		f.finish(msg, extraction.Extraction{})
	}
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, status.Documents[0].Chunks)
	require.Equal(t, 3, status.Documents[0].Done)
}

// One chunk with a high index and no total is one chunk: nothing else is known of
// the document, and nothing waits.
func TestStatusCountsWhatIsKnown(t *testing.T) {
	f := newFleet(t)
	_, err := f.js.Publish(t.Context(), f.names.ChunkSubject("acme co."), []byte(`{"document_id":"d","index":7,"text":"A."}`))
	require.NoError(t, err)
	f.finish(f.take(1)[0], extraction.Extraction{})
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, status.Documents[0].Chunks)
	require.Equal(t, 1, status.Documents[0].Done)
	require.Zero(t, status.Documents[0].Waiting)
}

// The last chunk may be the first to be finished.
func TestStatusWhenTheLastChunkIsFirst(t *testing.T) {
	f := newFleet(t)
	plan := f.plan("d", file(t, "a.txt", sentences(5)))
	require.NoError(t, f.publisher(plan).Send(t.Context()))
	messages := f.take(100)
	f.finish(messages[len(messages)-1], extraction.Extraction{})
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, plan.Chunks, status.Documents[0].Chunks)
	require.Equal(t, plan.Chunks-1, status.Documents[0].Waiting)
}

// A document that has shrunk leaves results of its longer version behind.
func TestOnlyTheNewestVersionOfADocumentCounts(t *testing.T) {
	f := newFleet(t)
	require.NoError(t, f.publisher(f.plan("d", file(t, "a.txt", sentences(5)))).Send(t.Context()))
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{Usage: extraction.Usage{PromptTokens: 100}})
	}
	require.NoError(t, f.publisher(f.plan("d", file(t, "a.txt", "Short now."))).Send(t.Context()))
	for _, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{Usage: extraction.Usage{PromptTokens: 1}})
	}
	status, err := f.reader().Status(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, 1, status.Documents[0].Chunks)
	require.Equal(t, 1, status.Documents[0].Done)
	require.Zero(t, status.Documents[0].Waiting)
	require.Equal(t, int64(1), status.Documents[0].Usage.PromptTokens)
}

func TestDeadLettersOfNoDocumentAreCounted(t *testing.T) {
	f := newFleet(t)
	_, err := f.js.Publish(t.Context(), f.names.ChunkSubject("acme co."), []byte("not JSON"))
	require.NoError(t, err)
	f.bury(f.take(1)[0], "invalid_message")
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"invalid_message": 1}, status.Unreadable)
	require.Empty(t, status.Documents)
}

// What nobody reported is said, and not counted as nothing.
func TestStatusTellsUnreportedTokensFromNone(t *testing.T) {
	f := newFleet(t)
	require.NoError(t, f.publisher(f.plan("a", file(t, "a.txt", sentences(3)))).Send(t.Context()))
	require.NoError(t, f.publisher(f.plan("b", file(t, "b.txt", "One chunk."))).Send(t.Context()))
	usages := []extraction.Usage{
		{PromptTokens: 1_000_000, CompletionTokens: 500_000}, {PromptTokens: 7, CompletionTokens: 2, Unreported: 1}, {},
	}
	for i, msg := range f.take(100) {
		f.finish(msg, extraction.Extraction{Usage: usages[min(i, 2)]})
	}
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Nil(t, status.Total.Cost)
	total := status.Documents[0].Chunks + 1
	require.Equal(t, total, status.Total.Done)
	require.Equal(t, total-1, status.Total.UsageIncomplete)
	require.Equal(t, total-2, status.Documents[0].UsageIncomplete)
	require.Equal(t, 1, status.Documents[1].UsageIncomplete)

	status.AddCost(publish.Prices{In: 3, Out: 10})
	require.InDelta(t, 8.000041, *status.Documents[0].Cost, 1e-9)
	require.Zero(t, *status.Documents[1].Cost)
	require.InDelta(t, 8.000041, *status.Total.Cost, 1e-9)
}

func TestPricesAreAmountsOfMoney(t *testing.T) {
	require.NoError(t, publish.Prices{}.Check())
	for _, wrong := range []publish.Prices{{In: -1}, {Out: math.NaN()}, {In: math.Inf(1)}} {
		require.ErrorContains(t, wrong.Check(), "0 or more")
	}
}

// The total is over all documents, whatever became of them.
func TestStatusAddsUp(t *testing.T) {
	f := newFleet(t)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, f.publisher(f.plan(id, file(t, "a.txt", "Ada met "+id))).Send(t.Context()))
	}
	messages := f.take(2)
	f.bury(messages[0], "refused")
	f.finish(messages[1], extraction.Extraction{Status: extraction.StatusPartial})
	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, status.Total.Chunks)
	require.Equal(t, 1, status.Total.Done)
	require.Equal(t, 1, status.Total.Partial)
	require.Equal(t, map[string]int{"refused": 1}, status.Total.Dead)
	require.False(t, status.Total.UpdatedAt.IsZero())
}
