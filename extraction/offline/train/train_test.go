package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

func TestOwnSentencesFallOnTokens(t *testing.T) {
	docs, err := ownSentences()
	require.NoError(t, err)
	require.Greater(t, len(docs), 40)
	for _, d := range docs {
		_, names, lost := example(d)
		require.Equal(t, len(d.Mentions), names, d.Text)
		require.Zero(t, lost, d.Text)
	}
}

func TestExamplePutsNamesOnTokens(t *testing.T) {
	e, names, lost := example(gold.Document{Text: "Ada came. Then Bob Fox left town.", Mentions: []gold.Mention{
		{Start: 0, End: 3, Type: "person"}, {Start: 15, End: 22, Type: "person"}, {Start: 24, End: 27, Type: "person"}, {Start: 28, End: 32, Type: "discipline"},
	}})
	require.Equal(t, [][]tagger.Mention{{{From: 0, To: 1, Type: tagger.Person}}, {{From: 1, To: 3, Type: tagger.Person}}}, e.Names)
	require.Equal(t, 3, names)
	require.Equal(t, 1, lost, "the third lies inside a token; the fourth is no name")
}

func TestRelationsTellWhatAThingIs(t *testing.T) {
	docs := []gold.Document{{
		Entities:      []gold.Entity{{Name: "Song"}, {Name: "Ada"}, {Name: "War"}, {Name: "Thing"}},
		Relationships: []gold.Relationship{{Source: "Song", Target: "Ada", Type: "performer"}, {Source: "Ada", Target: "War", Type: "participant of"}},
		Mentions: []gold.Mention{{Raw: "MISC", Type: "other", Entity: 0}, {Raw: "PER", Type: "person", Entity: 1},
			{Raw: "MISC", Type: "other", Entity: 2}, {Raw: "MISC", Type: "other", Entity: 3}},
	}}
	refine(docs)
	var types []string
	for _, m := range docs[0].Mentions {
		types = append(types, m.Type)
	}
	require.Equal(t, []string{"work", "person", "event", "other"}, types)
}

func TestMissingDataIsNamed(t *testing.T) {
	_, err := trainingSet(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "redocred"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "redocred", "dev.json"), []byte(`[]`), 0o644))
	_, err = trainingSet(folder)
	require.ErrorContains(t, err, "crossner")
}
