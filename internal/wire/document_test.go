package wire_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestDocumentWithoutAnyHeader(t *testing.T) {
	d, err := wire.DecodeDocument(nil, []byte("Ada Lovelace met Charles Babbage in London."))
	require.NoError(t, err)
	require.Equal(t, extraction.Document{
		ID:   sha("Ada Lovelace met Charles Babbage in London.")[:16],
		Text: "Ada Lovelace met Charles Babbage in London.",
	}, d)
}

func TestDocumentByContentType(t *testing.T) {
	h := func(contentType string) nats.Header {
		return nats.Header{"Content-Type": {contentType}, "Weir-Document-Id": {"d"}, "Weir-Title": {"T"}, "Weir-Uri": {"u"}, "Weir-Domain": {"x"}}
	}
	for _, contentType := range []string{"text/plain", "text/markdown", "text/plain; charset=utf-8", "TEXT/PLAIN"} {
		d, err := wire.DecodeDocument(h(contentType), []byte("# Ada"))
		require.NoError(t, err, contentType)
		require.Equal(t, extraction.Document{ID: "d", Title: "T", URI: "u", Domain: "x", Text: "# Ada"}, d)
	}
	d, err := wire.DecodeDocument(h("text/html"), []byte("<p>Ada &amp; Charles</p><script>no</script>"))
	require.NoError(t, err)
	require.Equal(t, "Ada & Charles", d.Text)

	from, to, ok := d.Origin.Range(4, len(d.Text))
	require.True(t, ok)
	require.Equal(t, "&amp; Charles", "<p>Ada &amp; Charles</p>"[from:to], "bytes of the page")

	d, err = wire.DecodeDocument(h("application/json"), []byte(`{"text":"Ada","title":"own","metadata":{"k":"v"}}`))
	require.NoError(t, err)
	require.Equal(t, extraction.Document{ID: "d", Title: "own", URI: "u", Domain: "x", Text: "Ada", Metadata: map[string]string{"k": "v"}}, d)
}

func TestBadDocuments(t *testing.T) {
	for name, tc := range map[string]struct{ contentType, body, reason string }{
		"empty":               {"", "", "blank"},
		"blank":               {"", " \n", "blank"},
		"NUL":                 {"", "a\x00b", "NUL"},
		"not UTF-8":           {"", "caf\xe9", "invalid UTF-8"},
		"html, not UTF-8":     {"text/html", "<p>caf\xe9", "not UTF-8"},
		"html without text":   {"text/html", "<script>a</script>", "blank"},
		"another type":        {"image/png", "a", "Content-Type"},
		"no type at all":      {";;", "a", "Content-Type"},
		"another charset":     {"text/plain; charset=latin1", "a", "charset"},
		"json list":           {"application/json", `["a"]`, "not an object"},
		"json without text":   {"application/json", `{"title":"a"}`, "blank"},
		"json of wrong shape": {"application/json", `{"text":{"a":1}}`, "text is not a string"},
		"json twice":          {"application/json", `{"text":"a","metadata":{"k":"v","\u006b":"w"}}`, "a member of metadata appears twice"},
		"json null within":    {"application/json", `{"text":"a","metadata":{"k":null}}`, "metadata is not an object of strings"},
		"json id too long":    {"application/json", `{"text":"a","document_id":"` + strings.Repeat("x", 513) + `"}`, "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			h := nats.Header{}
			if tc.contentType != "" {
				h.Set("Content-Type", tc.contentType)
			}
			_, err := wire.DecodeDocument(h, []byte(tc.body))
			var invalid *wire.InvalidMessageError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, tc.reason)
		})
	}
}

func TestDocumentSurvivesTheWire(t *testing.T) {
	in := extraction.Document{ID: "a b", Title: "Ünï\ncode", URI: "u", Domain: "x", Metadata: map[string]string{"k": "v"}, Text: "Ada <3"}
	h, body, err := wire.EncodeDocument(in)
	require.NoError(t, err)
	out, err := wire.DecodeDocument(h, body)
	require.NoError(t, err)
	require.Equal(t, in, out)

	_, _, err = wire.EncodeDocument(extraction.Document{Text: " "})
	require.Error(t, err)
}

func FuzzDecodeDocument(f *testing.F) {
	f.Add("", "", []byte("Ada"))
	f.Add("application/json", "id", []byte(`{"text":"Ada","metadata":{"a":"b"}}`))
	f.Add("text/html; charset=utf-8", "", []byte("<p>Ada"))
	f.Fuzz(func(t *testing.T, contentType, id string, body []byte) {
		h := nats.Header{"Content-Type": {contentType}, "Weir-Document-Id": {id}}
		given := wire.GivenDocumentID(h, body)
		if len(given) > wire.MaxIDBytes || !utf8.ValidString(given) {
			t.Fatalf("bad id %q", given)
		}
		d, err := wire.DecodeDocument(h, body)
		if err != nil {
			return
		}
		if given != "" && given != d.ID {
			t.Fatalf("id %q, but %q was given", d.ID, given)
		}
		if d.ID == "" || strings.TrimSpace(d.Text) == "" {
			t.Fatalf("accepted %+v", d)
		}
		if _, _, err := wire.EncodeDocument(d); err != nil {
			t.Fatalf("accepted what cannot be written: %v", err)
		}
	})
}
