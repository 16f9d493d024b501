package publish_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/publish"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func openFile(t testing.TB, path string) (publish.Source, error) {
	t.Helper()
	files := publish.NewFiles(t.Context())
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	return files.Open(path)
}

func readAll(source publish.Source) ([]publish.Item, error) {
	var items []publish.Item
	for item, err := range source.Documents() {
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

func TestTextFilesAreReadByteForByte(t *testing.T) {
	for _, name := range []string{"a.txt", "A.TXT", "b.md"} {
		text := "\uFEFFAda met Charles.\r\nIn London. 日本\n"
		source, err := openFile(t, write(t, name, text))
		require.NoError(t, err)
		for range 2 { // a source can be read again
			items, err := readAll(source)
			require.NoError(t, err)
			require.Len(t, items, 1)
			require.Equal(t, text, items[0].Document.Text)
			require.Equal(t, name, items[0].Document.Title)
		}
	}
}

func TestStdinIsOneText(t *testing.T) {
	source, err := publish.ReadStdin(strings.NewReader("Ada met Charles."))
	require.NoError(t, err)
	for range 2 {
		items, err := readAll(source)
		require.NoError(t, err)
		require.Equal(t, "Ada met Charles.", items[0].Document.Text)
		require.Equal(t, publish.StdinName, items[0].Source)
	}
}

func TestFilesThatCannotBeReadAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]string{
		filepath.Join(dir, "missing.txt"): "no such file",
		dir:                               "is a directory",
		write(t, "a.odt", "x"):            "cannot read .odt files: can read .docx, .epub, .htm, .html, .jsonl, .markdown, .md, .pdf, .txt, .xhtml",
		write(t, "README", "x"):           "can read .docx",
		os.DevNull:                        "not a regular file",
	}
	for path, want := range cases {
		_, err := openFile(t, path)
		var input *publish.InputError
		require.ErrorAs(t, err, &input, path)
		require.Equal(t, path, input.Source)
		require.Contains(t, err.Error(), path)
		require.Contains(t, err.Error(), want)
	}
	_, err := openFile(t, filepath.Join(dir, "missing.txt"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFlawsAreNamedWithTheirPosition(t *testing.T) {
	cases := []struct {
		name, file, text string
		line             int
		offset           int64
		reason           string
	}{
		{"latin 1", "a.txt", "one\ncaf\xe9 two", 2, 7, "not UTF-8 (byte 0xe9): convert it to UTF-8 first"},
		{"cut rune", "a.md", "ab\xe6\x97", 1, 2, "not UTF-8"},
		{"surrogate", "a.txt", "ab\xed\xa0\x80", 1, 2, "not UTF-8"},
		{"binary", "a.txt", "\x7fELF\x02\x01\x01\x00\x00", 1, 7, "a NUL byte"},
		{"png", "a.txt", "\x89PNG\r\n\x1a\n\x00", 1, 0, "not UTF-8"},
		{"pdf", "a.txt", "%PDF-1.4 Ada met Charles.", 0, -1, "looks like a PDF, not a text"},
		{"pdf, binary", "a.md", "%PDF-1.4\n%\xe2\xe3", 2, 10, "not UTF-8 (byte 0xe2): it looks like a PDF"},
		{"utf-16", "a.txt", "\xff\xfea\x00", 1, 0, "UTF-16: convert it to UTF-8 first"},
		{"empty", "a.txt", "", 0, -1, "blank"},
		{"white", "a.md", " \n\t\u00a0\u200b\uFEFF\n", 0, -1, "blank"},

		{"not JSON", "a.jsonl", "{\"text\":\"a\"}\nAda met Charles\n", 2, 13, "not JSON"},
		{"cut JSON", "a.jsonl", "{\"text\":\"a\"", 1, -1, "ends too early"},
		{"list", "a.jsonl", "[1]", 1, 0, "want an object"},
		{"null", "a.jsonl", "null", 1, -1, "want an object"},
		{"text not a string", "a.jsonl", "{\"text\":7}", 1, 8, "\"text\""},
		{"metadata not strings", "a.jsonl", "{\"text\":\"a\",\"metadata\":{\"n\":7}}", 1, 28, "metadata"},
		{"unknown field", "a.jsonl", "\n{\"txt\":\"a\"}", 2, -1, "nothing to extract from; not known is \"txt\": known are"},
		{"no text", "a.jsonl", "{\"title\":\"a\"}", 1, -1, "blank"},
		{"blank text", "a.jsonl", "{\"text\":\" \\n\"}", 1, -1, "blank"},
		{"NUL in text", "a.jsonl", "{\"text\":\"a\\u0000b\"}", 1, -1, "byte 1: a NUL byte"},
		{"NUL in id", "a.jsonl", "{\"text\":\"a\",\"document_id\":\"a\\u0000b\"}", 1, -1, "document_id"},
		{"not UTF-8 in JSON", "a.jsonl", "{\"text\":\"a\"}\n{\"text\":\"\xff\"}", 2, 22, "not UTF-8 (byte 0xff): convert it to UTF-8 first"},
		{"half a surrogate pair", "a.jsonl", `{"text":"a\ud800b"}`, 1, -1, "surrogate"},
		{"half a pair in metadata", "a.jsonl", `{"text":"a","metadata":{"k":"\udc00"}}`, 1, -1, "surrogate"},
		{"a member twice", "a.jsonl", `{"text":"a","text":"b"}`, 1, -1, "\"text\" appears twice"},
		{"a member in another case", "a.jsonl", `{"Text":"a"}`, 1, -1, "blank"},
		{"null in metadata", "a.jsonl", `{"text":"a","metadata":{"k":null}}`, 1, -1, "metadata"},
		{"NUL in a title", "a.jsonl", `{"text":"a","title":"a\u0000"}`, 1, -1, "title"},
		{"two on a line", "a.jsonl", "{\"text\":\"a\"}{\"text\":\"b\"}", 1, 12, "more than one"},
		{"no document", "a.jsonl", "\n \n", 0, -1, "blank"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			source, err := openFile(t, path)
			require.NoError(t, err)
			_, err = readAll(source)
			var input *publish.InputError
			require.ErrorAs(t, err, &input)
			require.Equal(t, path, input.Source)
			require.Equal(t, c.line, input.Line, err)
			require.Equal(t, c.offset, input.Offset, err)
			require.Contains(t, input.Error(), c.reason)
		})
	}
}

// What a line has beside the members of a document is ignored, as on the wire, and told once for
// the file, with the first line that has any.
func TestUnknownMembersOfLinesAreIgnoredWithANote(t *testing.T) {
	path := write(t, "docs.jsonl", `{"text":"Ada"}`+"\n"+
		`{"text":"Bob","tilte":"T","score":0.5,"a":[1],"b":null,"Text":"no"}`+"\n"+`{"text":"Cyd","id":7}`)
	source, err := openFile(t, path)
	require.NoError(t, err)
	for range 2 {
		items, err := readAll(source)
		require.NoError(t, err)
		require.Len(t, items, 3)
		require.Equal(t, "Bob", items[1].Document.Text)
		require.Equal(t, []string{"", `from line 2 on, what is not known is ignored: "Text", "a", "b", and 2 more; known are document_id, title, uri, domain, metadata and text`, ""},
			[]string{items[0].Note, items[1].Note, items[2].Note})
	}
}

func TestLinesBecomeDocuments(t *testing.T) {
	path := write(t, "docs.jsonl", "\uFEFF{\"text\":\"Ada\"}\r\n\n"+
		`{"document_id":"d 2","title":"T","uri":"u","domain":"x","metadata":{"k":"v"},"text":"Charles"}`)
	source, err := openFile(t, path)
	require.NoError(t, err)
	items, err := readAll(source)
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.Equal(t, "Ada", items[0].Document.Text)
	require.Equal(t, 1, items[0].Line)
	require.Equal(t, "d 2", items[1].Document.ID)
	require.Equal(t, map[string]string{"k": "v"}, items[1].Document.Metadata)
	require.Equal(t, 3, items[1].Line)
}

func TestReadingStopsWhenTheCallerHasEnough(t *testing.T) {
	source, err := openFile(t, write(t, "docs.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"))
	require.NoError(t, err)
	seen := 0
	for range source.Documents() {
		seen++
		break
	}
	require.Equal(t, 1, seen)
}

// Whatever is in a file, reading it gives texts that can be published, or a
// refusal that names the file.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"Ada met Charles.", "{\"text\":\"a\"}\n", "\xff\xfe", "a\x00", "{\"text\":", "[]", " ", "{\"text\":\"\\ud800\"}\n{"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, lines bool) {
		name := "a.txt"
		if lines {
			name = "a.jsonl"
		}
		path := write(t, name, text)
		source, err := openFile(t, path)
		require.NoError(t, err)
		items, err := readAll(source)
		for _, item := range items {
			require.True(t, utf8.ValidString(item.Document.Text))
			require.NotContains(t, item.Document.Text, "\x00")
			require.NotEmpty(t, strings.TrimSpace(item.Document.Text))
		}
		if err == nil {
			require.NotEmpty(t, items)
			return
		}
		input, ok := errors.AsType[*publish.InputError](err)
		require.True(t, ok)
		require.Equal(t, path, input.Source)
		require.Less(t, input.Offset, int64(len(text))+1)
	})
}
