package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func newResults(t *testing.T) results {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	r, err := openResults(t.Context(), js, names, unobserved{})
	require.NoError(t, err)
	return r
}

func chunkOf(index int) extraction.Chunk {
	return extraction.Chunk{DocumentID: "d", ChunkID: "c" + string(rune('a'+index)), Index: index, Total: 20, Text: "Ada"}
}

func (r results) keep(t *testing.T, c extraction.Chunk) {
	t.Helper()
	result := wire.Result{TenantID: "acme", DocumentID: c.DocumentID, ChunkID: c.ChunkID, Index: c.Index, Total: c.Total}
	require.NoError(t, r.store(t.Context(), stored{}, c, result, time.Now()))
}

// The chunks of a new document that come together cost one question, and none of them is
// taken for done.
func TestOneLookServesTheChunksOfANewDocument(t *testing.T) {
	r := newResults(t)
	before := r.js.Conn().Stats().OutMsgs
	began := time.Now()
	for i := range 20 {
		found, answered, err := r.first(t.Context(), "acme", chunkOf(i), began)
		require.NoError(t, err)
		require.False(t, answered)
		require.Zero(t, found)
	}
	require.LessOrEqual(t, r.js.Conn().Stats().OutMsgs-before, 1+uint64(time.Since(began)/untouchedFor))
}

// What was seen of a new document is soon asked for again; that a document has results
// stays.
func TestAnUntouchedDocumentIsSoonLookedAtAgain(t *testing.T) {
	var s sights
	now := time.Now()
	s.remember("new", true, now)
	s.remember("old", false, now)
	for age, known := range map[time.Duration]bool{0: true, untouchedFor - 1: true, untouchedFor: false} {
		untouched, is := s.recall("new", now.Add(age))
		require.Equal(t, known, is, age)
		require.True(t, untouched)
	}
	untouched, known := s.recall("old", now.Add(time.Hour))
	require.True(t, known)
	require.False(t, untouched)
	for range mostDocuments {
		s.remember(time.Now().String(), true, now)
	}
	require.LessOrEqual(t, len(s.all), mostDocuments)
}

// A chunk that has its result is found done, whatever else its document has.
func TestAChunkOfADocumentWithResultsIsLookedFor(t *testing.T) {
	r := newResults(t)
	r.keep(t, chunkOf(3))
	_, answered, err := r.first(t.Context(), "acme", chunkOf(3), time.Now())
	require.NoError(t, err)
	require.True(t, answered)
	for range 2 {
		found, answered, err := r.first(t.Context(), "acme", chunkOf(4), time.Now())
		require.NoError(t, err)
		require.False(t, answered)
		require.Zero(t, found)
	}
	r.keep(t, chunkOf(4))
	_, answered, err = r.first(t.Context(), "acme", chunkOf(4), time.Now())
	require.NoError(t, err)
	require.True(t, answered, "at once: it was known that the document has results")
}

// A copy of a chunk that the stream did not refuse, as it came without the chunk's id or
// was delivered before, is looked for whatever was seen of its document a moment ago.
func TestACopyIsNotAskedForAgain(t *testing.T) {
	r := newResults(t)
	c := chunkOf(0)
	r.seen.remember(r.names.ResultFilter("acme", "d"), true, time.Now().Add(time.Hour))
	r.keep(t, c)
	for name, test := range map[string]struct {
		id         string
		deliveries uint64
		trusted    bool // what was seen of the document
	}{
		"without an id":         {"", 1, false},
		"with an id of its own": {"mine", 1, false},
		"delivered before":      {c.ChunkID, 2, false},
		"the only one":          {c.ChunkID, 1, true},
	} {
		d := delivery{
			msg:  &nats.Msg{Header: nats.Header{nats.MsgIdHdr: {test.id}}},
			meta: &nats.MsgMetadata{NumDelivered: test.deliveries, Timestamp: time.Now().Add(-time.Hour)},
		}
		_, answered, err := r.look(t.Context(), "acme", c, d)
		require.NoError(t, err)
		require.Equal(t, !test.trusted, answered, name)
	}
}

// A result that somebody stored since the look is not written over.
func TestAnOldSightWritesOverNothing(t *testing.T) {
	r := newResults(t)
	c := chunkOf(0)
	before, _, err := r.first(t.Context(), "acme", c, time.Now())
	require.NoError(t, err)
	r.keep(t, c)
	result := wire.Result{TenantID: "acme", DocumentID: c.DocumentID, ChunkID: c.ChunkID, Index: c.Index, Total: c.Total, Worker: "late"}
	require.NoError(t, r.store(t.Context(), before, c, result, time.Now()))
	msg, err := r.stream.GetLastMsgForSubject(t.Context(), r.names.ResultSubject("acme", "d", 0))
	require.NoError(t, err)
	stayed, err := wire.DecodeResult(msg.Data)
	require.NoError(t, err)
	require.Empty(t, stayed.Worker)
}

func TestALookThatIsNotAnsweredIsAnErrorOfTheStore(t *testing.T) {
	r := newResults(t)
	ended, end := context.WithCancel(t.Context())
	end()
	_, _, err := r.first(ended, "acme", chunkOf(0), time.Now())
	var failed *storeError
	require.ErrorAs(t, err, &failed)
}
