package wire_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestChunkWithOnlyText(t *testing.T) {
	c, err := wire.DecodeChunk([]byte(`{"text":"Ada met Charles."}`))
	require.NoError(t, err)
	id := sha("Ada met Charles.")[:16]
	require.Equal(t, extraction.Chunk{
		DocumentID: id, Index: 0, Total: 1, Text: "Ada met Charles.",
		ChunkID: sha(id + "\x00" + "0" + "\x00" + "Ada met Charles."),
	}, c)
}

func TestChunkWithEverything(t *testing.T) {
	c, err := wire.DecodeChunk([]byte(`{"document_id":"d","index":2,"total":3,"text":"t\u00e9 \ud83d\ude00","chunk_id":"mine","document_sha256":"s",
		"byte_start":5,"byte_end":9,"title":"T","uri":"u","domain":"x","metadata":{"a":"b"},"unknown":[1,{"text":"no"}]}`))
	require.NoError(t, err)
	require.Equal(t, extraction.Chunk{
		DocumentID: "d", Index: 2, Total: 3, Text: "té 😀", ChunkID: "mine", DocumentSHA256: "s",
		ByteStart: 5, ByteEnd: 9, Title: "T", URI: "u", Domain: "x", Metadata: map[string]string{"a": "b"},
	}, c)
}

func TestChunkLeavesRoomForClients(t *testing.T) {
	for name, body := range map[string]string{
		"null is absent":        `{"text":"a","index":null,"total":null,"document_id":null,"metadata":null}`,
		"other case is unknown": `{"text":"a","TEXT":1,"Index":"x"}`,
		"white space":           " \n{\"text\" : \"a\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := wire.DecodeChunk([]byte(body))
			require.NoError(t, err)
			require.Equal(t, 1, c.Total)
			require.Equal(t, "a", c.Text)
		})
	}
	c, err := wire.DecodeChunk([]byte(`{"text":"a","index":4}`))
	require.NoError(t, err)
	require.Equal(t, 5, c.Total, "an index without a total is no mistake")
}

var badChunks = map[string]struct{ body, reason string }{
	"empty body":          {``, "not JSON"},
	"prose":               {`Ada met Charles.`, "not JSON"},
	"truncated":           {`{"text":"a`, "not JSON"},
	"two values":          {`{"text":"a"}{"text":"b"}`, "not JSON"},
	"byte order mark":     {"\ufeff{\"text\":\"a\"}", "not JSON"},
	"NaN":                 {`{"text":"a","index":NaN}`, "not JSON"},
	"list":                {`[{"text":"a"}]`, "not an object"},
	"number":              {`7`, "not an object"},
	"string":              {`"text"`, "not an object"},
	"null":                {`null`, "not an object"},
	"no text":             {`{}`, "text is blank"},
	"null text":           {`{"text":null}`, "text is blank"},
	"empty text":          {`{"text":""}`, "text is blank"},
	"blank text":          {`{"text":" \n\t\u00a0\u2003"}`, "text is blank"},
	"invisible text":      {`{"text":"\u200b\ufeff\u200d"}`, "text is blank"},
	"text is a number":    {`{"text":1}`, "text is not a string"},
	"text is a list":      {`{"text":["a"]}`, "text is not a string"},
	"text twice":          {`{"text":"a","text":"b"}`, `"text" appears twice`},
	"NUL":                 {`{"text":"a\u0000b"}`, "NUL"},
	"NUL in an id":        {`{"text":"a","document_id":"\u0000"}`, "NUL"},
	"NUL in metadata":     {`{"text":"a","metadata":{"k":"\u0000"}}`, "NUL"},
	"invalid UTF-8":       {"{\"text\":\"a\xff\"}", "not UTF-8"},
	"lone high surrogate": {`{"text":"a\ud800"}`, "surrogate"},
	"lone low surrogate":  {`{"text":"a\udc00"}`, "surrogate"},
	"wrong pair":          {`{"text":"\ud800\u0041"}`, "surrogate"},
	"index is a string":   {`{"text":"a","index":"0"}`, "index is not a whole number"},
	"index is a fraction": {`{"text":"a","index":0.5}`, "index is not a whole number"},
	"index too large":     {`{"text":"a","index":99999999999999999999}`, "index is not a whole number"},
	"index at the end":    {`{"text":"a","index":9223372036854775807}`, "too large"},
	"index negative":      {`{"text":"a","index":-1}`, "negative"},
	"total negative":      {`{"text":"a","total":-1}`, "negative"},
	"total is zero":       {`{"text":"a","total":0}`, "not below total"},
	"end is zero":         {`{"text":"a","byte_start":5,"byte_end":0}`, "before byte_start"},
	"index is total":      {`{"text":"a","index":3,"total":3}`, "not below total"},
	"index above total":   {`{"text":"a","index":4,"total":3}`, "not below total"},
	"start negative":      {`{"text":"a","byte_start":-1}`, "byte_start"},
	"end negative":        {`{"text":"a","byte_end":-1}`, "byte_end"},
	"end before start":    {`{"text":"a","byte_start":5,"byte_end":4}`, "before byte_start"},
	"metadata is a list":  {`{"text":"a","metadata":["x"]}`, "metadata is not an object of strings"},
	"metadata of numbers": {`{"text":"a","metadata":{"k":1}}`, "metadata is not an object of strings"},
	"metadata of nulls":   {`{"text":"a","metadata":{"k":null}}`, "metadata is not an object of strings"},
	"document id too long": {`{"text":"a","document_id":"` + strings.Repeat("x", wire.MaxIDBytes+1) + `"}`,
		"document_id is longer"},
	"chunk id too long": {`{"text":"a","chunk_id":"` + strings.Repeat("x", wire.MaxIDBytes+1) + `"}`, "chunk_id is longer"},
}

func TestBadChunks(t *testing.T) {
	for name, tc := range badChunks {
		t.Run(name, func(t *testing.T) {
			_, err := wire.DecodeChunk([]byte(tc.body))
			var invalid *wire.InvalidMessageError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, tc.reason)
		})
	}
}

func TestEncodeChunkRefusesWhatDecodeWould(t *testing.T) {
	for _, c := range []extraction.Chunk{{}, {Text: " "}, {Text: "a\x00"}, {Text: "a\xff"}, {Text: "a", Index: 1, Total: 1}, {Text: "a", Title: "\xff"}} {
		_, err := wire.EncodeChunk(c)
		var invalid *wire.InvalidMessageError
		require.ErrorAs(t, err, &invalid)
	}
	body, err := wire.EncodeChunk(extraction.Chunk{Text: "<a> & b"})
	require.NoError(t, err)
	require.Contains(t, string(body), "<a> & b", "no HTML escapes")
}

func TestChunksSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := extraction.Chunk{
			DocumentID: rapid.StringN(1, 20, 80).Draw(t, "document"),
			Text:       "x" + rapid.String().Draw(t, "text"),
			ChunkID:    rapid.StringN(1, 20, 80).Draw(t, "chunk"),
			Title:      rapid.String().Draw(t, "title"),
			Index:      rapid.IntRange(0, 1<<40).Draw(t, "index"),
		}
		c.Total = c.Index + rapid.IntRange(1, 9).Draw(t, "more")
		body, err := wire.EncodeChunk(c)
		if err != nil {
			require.True(t, strings.ContainsRune(c.DocumentID+c.Text+c.ChunkID+c.Title, 0), "%v", err)
			return
		}
		back, err := wire.DecodeChunk(body)
		require.NoError(t, err)
		require.Equal(t, c, back)
	})
}

func FuzzDecodeChunk(f *testing.F) {
	f.Add([]byte(`{"text":"a","index":1,"total":2,"metadata":{"k":"v"}}`))
	for _, tc := range badChunks {
		f.Add([]byte(tc.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := wire.DecodeChunk(body)
		if err != nil {
			return
		}
		if c.DocumentID == "" || c.ChunkID == "" || c.Index < 0 || c.Index >= c.Total {
			t.Fatalf("defaults missing: %+v", c)
		}
		if !json.Valid(body) {
			t.Fatal("accepted what is not JSON")
		}
		again, err := wire.EncodeChunk(c)
		if err != nil {
			t.Fatalf("accepted what cannot be written: %v", err)
		}
		if d, err := wire.DecodeChunk(again); err != nil || d.Text != c.Text || d.ChunkID != c.ChunkID {
			t.Fatalf("changed on the way: %v", err)
		}
	})
}

// Where a chunk stands is given, also at the beginning, or left out.
func TestAChunkWithoutAPlaceSaysNone(t *testing.T) {
	body, err := wire.EncodeChunk(extraction.Chunk{Text: "Ada.", ByteEnd: 4})
	require.NoError(t, err)
	require.Contains(t, string(body), `"byte_start":0,"byte_end":4`)
	body, err = wire.EncodeChunk(extraction.Chunk{Text: "Ada.", Metadata: map[string]string{"page": "1"}})
	require.NoError(t, err)
	require.NotContains(t, string(body), "byte_")
	chunk, err := wire.DecodeChunk(body)
	require.NoError(t, err)
	require.Equal(t, "1", chunk.Metadata["page"])
}
