package consumer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// `nats pub weir.documents.acme "Ada …"` is a complete client.
func TestRawDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := failing()
	w.start(x)
	const text = "Ada Lovelace met Charles Babbage in London."
	w.sendTo("weir.documents.acme", text, nil)
	require.Eventually(t, func() bool { return len(w.results()) == 1 }, patience, tick)
	r := w.onlyResult()
	require.Equal(t, extraction.DocumentID(text), r.DocumentID)
	require.Equal(t, text, x.made()[0].chunk.Text)
}

func TestDocumentIsSplitWithItsProvenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := failing()
	splitter, err := extraction.NewSplitter(100, 10)
	require.NoError(t, err)
	w.start(x, func(c *consumer.Config) { c.Splitter = splitter; c.Concurrency = 16 })
	text := strings.Repeat("Ada Lovelace met Charles Babbage in London. ", 300)
	h := nats.Header{"Weir-Document-Id": {"doc 1"}, "Weir-Title": {"T"}, "Weir-Uri": {"u"}, "Weir-Domain": {"history"}, "Content-Type": {"text/markdown"}}
	w.sendTo("weir.documents.acme", text, h)

	want, err := splitter.Split(extraction.Document{ID: "doc 1", Title: "T", URI: "u", Domain: "history", Text: text})
	require.NoError(t, err)
	require.Greater(t, len(want), 128, "more than one window of publishing")
	require.Eventually(t, func() bool { return len(x.made()) >= len(want) }, patience, tick)
	w.settled()
	var got []extraction.Chunk
	for _, c := range x.made() {
		got = append(got, c.chunk)
	}
	slices.SortFunc(got, func(a, b extraction.Chunk) int { return a.Index - b.Index })
	require.Equal(t, want, got)

	// The same document again is no second extraction.
	w.sendTo("weir.documents.acme", text, h)
	w.settled()
	require.Len(t, x.made(), len(want))
	require.Len(t, w.results(), len(want))
}

// A worker that died while it published a document leaves no chunk twice and none
// out.
func TestDocumentThatWasPublishedInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	splitter, err := extraction.NewSplitter(100, 10)
	require.NoError(t, err)
	doc := extraction.Document{ID: "d", Text: strings.Repeat("Ada Lovelace met Charles Babbage in London. ", 40)}
	chunks, err := splitter.Split(doc)
	require.NoError(t, err)
	for _, c := range chunks[:len(chunks)/2] {
		body, err := wire.EncodeChunk(c)
		require.NoError(t, err)
		w.sendTo(w.names.ChunkSubject("acme"), string(body), nats.Header{nats.MsgIdHdr: {c.ChunkID}})
	}
	h, body, err := wire.EncodeDocument(doc)
	require.NoError(t, err)
	w.sendTo(w.names.DocumentSubject("acme"), string(body), h)
	g := newGate()
	w.start(g, func(c *consumer.Config) { c.Splitter = splitter })
	require.Eventually(t, func() bool { return w.waiting(w.names.DocumentStream()) == 0 }, patience, tick)
	require.EqualValues(t, len(chunks), w.waiting(w.names.ChunkStream()))
	close(g.open)
	w.settled()
	require.Len(t, w.results(), len(chunks))
	require.EqualValues(t, len(chunks), g.started.Load())
}

// The same document for two tenants is extracted for both, although the ids of
// its chunks are the same.
func TestTheSameDocumentOfTwoTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	for _, tenant := range []string{"acme", "globex", "a b"} {
		w.sendTo(w.names.DocumentSubject(tenant), "Ada met Charles.", nil)
	}
	require.Eventually(t, func() bool { return len(w.results()) == 3 }, patience, tick)
	w.settled()
	require.Empty(t, w.dead())
}

// A raw document that is put back to an earlier text, however often within the
// stream's memory of copies, has the result of the last one.
func TestDocumentIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	for _, text := range []string{"Text A.", "Text B.", "Text A.", "Text B.", "Text A."} {
		w.sendTo("weir.documents.acme", text, nats.Header{"Weir-Document-Id": {"d"}})
		require.Eventually(t, func() bool {
			return w.waiting(w.names.DocumentStream()) == 0 && w.waiting(w.names.ChunkStream()) == 0
		}, patience, tick)
		require.Equal(t, extraction.ChunkID("d", 0, text), w.onlyResult().ChunkID)
	}
}

func TestBadDocumentsAreSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	for name, doc := range map[string]struct{ contentType, body string }{
		"blank":     {"", " \n"},
		"not UTF-8": {"", "caf\xe9"},
		"NUL":       {"", "a\x00b"},
		"binary":    {"application/pdf", "%PDF-1.7"},
		"not JSON":  {"application/json", "{"},
		// Every chunk would carry the title, and none would pass the server.
		"huge title": {"application/json", `{"text":"` + strings.Repeat("Ada. ", 700) + `","title":"` + strings.Repeat("T", 1_043_000) + `"}`},
	} {
		h := nats.Header{"X-Mine": {name}}
		if doc.contentType != "" {
			h.Set("Content-Type", doc.contentType)
		}
		w.sendTo("weir.documents.acme", doc.body, h)
	}
	w.settled()
	require.Empty(t, w.results())
	dead := w.dead()
	require.Len(t, dead, 6)
	for _, d := range dead {
		require.Equal(t, "invalid_message", d.Kind, d.msg.Header.Get("X-Mine"))
		require.Equal(t, "weir.documents.acme", d.OriginSubject)
		require.Equal(t, "weir.dead.acme", d.msg.Subject)
	}
}
