package gold_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/gold"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestReadsDocRED(t *testing.T) {
	path := write(t, "x.json", `[{"title":"T","sents":[["Ada","Lovelace","met","a","well","-","known","man","(","Bob",")","."],["Ada","'s","son","said","\"","no","\"","."]],
		"vertexSet":[[{"pos":[0,2],"sent_id":0,"type":"PER"},{"pos":[0,1],"sent_id":1,"type":"PER"}],[{"pos":[9,10],"sent_id":0,"type":"PER"}]],
		"labels":[{"r":"P1","h":0,"t":1}]}]`)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "rel_info.json"), []byte(`{"P1":"knows"}`), 0o644))
	docs, err := gold.Read(path)
	require.NoError(t, err)
	require.Len(t, docs, 1)
	d := docs[0]
	require.Equal(t, `Ada Lovelace met a well-known man (Bob). Ada's son said "no".`, d.Text)
	require.Equal(t, []gold.Entity{{Name: "Ada Lovelace", Aliases: []string{"Ada"}, Type: "person"}, {Name: "Bob", Type: "person"}}, d.Entities)
	require.Equal(t, []gold.Relationship{{Source: "Ada Lovelace", Target: "Bob", Type: "knows"}}, d.Relationships)
	var names []string
	for _, m := range d.Mentions {
		names = append(names, d.Text[m.Start:m.End])
	}
	require.Equal(t, []string{"Ada Lovelace", "Bob", "Ada"}, names)
}

func TestReadsColumns(t *testing.T) {
	docs, err := gold.Read(write(t, "x.txt", "Ada\tB-scientist\nLovelace\tI-scientist\nmet\tO\nBob\tB-person\n.\tO\n\n\nIn\tO\nParis\tB-country\n"))
	require.NoError(t, err)
	require.Len(t, docs, 2)
	require.Equal(t, "Ada Lovelace met Bob.", docs[0].Text)
	require.Equal(t, []gold.Entity{{Name: "Ada Lovelace", Type: "person"}, {Name: "Bob", Type: "person"}}, docs[0].Entities)
	require.Equal(t, []gold.Entity{{Name: "Paris", Type: "location"}}, docs[1].Entities)
}

func TestJSONLGoesRoundAndRound(t *testing.T) {
	want := []gold.Document{{ID: "1", Text: "Ada <met> Bob.", Entities: []gold.Entity{{Name: "Ada", Type: "person"}, {Name: "Bob", Type: "person"}},
		Relationships: []gold.Relationship{{Source: "Ada", Target: "Bob", Type: "met"}}}}
	var b bytes.Buffer
	require.NoError(t, gold.WriteJSONL(&b, want))
	got, err := gold.Read(write(t, "x.jsonl", b.String()))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestBadGoldIsRefusedWithItsPlace(t *testing.T) {
	for content, reason := range map[string]string{
		"":                       "it is empty",
		"{\"text\":\"a\"}\n{bad": "line 2: ",
		`{"text":" "}`:           "line 1: text is blank",
		`{"text":"Ada","entities":[{"name":"Bob","type":"person"}]}`:                                                   `line 1: the name "Bob" is not in the text`,
		`{"text":"Ada","entities":[{"name":"Ada","type":"person"}],"relationships":[{"source":"Ada","target":"Bob"}]}`: `line 1: a relationship names "Bob"`,
		`[{"sents":[["a"]],"vertexSet":[[{"pos":[0,2],"sent_id":0,"type":"PER"}]]}]`:                                   "document 0: entity 0",
		`[{"sents":[["a"]],"vertexSet":[],"labels":[{"h":0,"t":1,"r":"x"}]}]`:                                          "document 0: a relation names",
		"a O\nb X-per\n": `line 2: "X-per" is not a BIO label`,
	} {
		_, err := gold.Read(write(t, "bad", content))
		var format *gold.FormatError
		require.ErrorAs(t, err, &format, content)
		require.ErrorContains(t, err, reason)
	}
	_, err := gold.Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSampleIsUsable(t *testing.T) {
	docs, err := gold.Sample()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(docs), 10)
	for _, d := range docs {
		require.NotEmpty(t, d.Title, "the licence asks for the article's name")
		require.Contains(t, d.License, "CC BY-SA")
		require.NotEmpty(t, d.Entities)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"{}", "[]", `[{"sents":[["a"]],"vertexSet":[[{"pos":[0,1],"sent_id":0,"type":"PER"}]]}]`, "a B-x\nb I-x\n", `{"text":"a"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		docs, err := gold.Read(write(t, "x", content))
		if err != nil {
			return
		}
		for _, d := range docs {
			for _, m := range d.Mentions {
				require.True(t, m.Start <= m.End && m.End <= len(d.Text))
				require.True(t, strings.HasPrefix(d.Text[m.Start:], d.Text[m.Start:m.End]))
			}
		}
	})
}
