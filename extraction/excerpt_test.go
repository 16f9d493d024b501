package extraction_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func quoted(text string, quotes ...string) []extraction.Entity {
	var out []extraction.Entity
	for _, q := range quotes {
		at := strings.Index(text, q)
		out = append(out, extraction.Entity{Evidence: &extraction.Evidence{Quote: q, ByteStart: at, ByteEnd: at + len(q)}})
	}
	return out
}

func TestExcerptsHoldTheEvidenceInContext(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor ", 50)
	text := filler + "Ada met Charles. " + filler + "Mary taught Ada. " + filler
	excerpts := extraction.Excerpts(text, quoted(text, "Mary taught Ada.", "Ada met Charles.", "met"), nil)
	require.Len(t, excerpts, 2, "passages that touch are one")
	for i, want := range []string{"Ada met Charles.", "Mary taught Ada."} {
		e := excerpts[i]
		require.Equal(t, text[e.ByteStart:e.ByteStart+len(e.Text)], e.Text)
		before, after, found := strings.Cut(e.Text, want)
		require.True(t, found)
		for _, context := range []string{before, after} {
			require.InDelta(t, 160, len(context), 40)
		}
		require.Regexp(t, `^(lorem|ipsum|dolor) `, e.Text, "begins with a word")
		require.Regexp(t, ` (lorem|ipsum|dolor)$`, e.Text, "ends with a word")
	}
	short := "Ada met Charles."
	require.Equal(t, []extraction.Excerpt{{Text: short}}, extraction.Excerpts(short, quoted(short, "Ada", "Charles"), nil))
	related := []extraction.Relationship{{Evidence: quoted(short, "met")[0].Evidence}, {}}
	require.Equal(t, []extraction.Excerpt{{Text: short}}, extraction.Excerpts(short, []extraction.Entity{{}}, related))
	require.Nil(t, extraction.Excerpts(short, []extraction.Entity{{}}, nil))
}

func FuzzExcerpts(f *testing.F) {
	f.Add("Ada met Charles.", 4, 7)
	f.Add(strings.Repeat("漢字", 300), 900, 906)
	f.Add(strings.Repeat("e\u0301", 300), 450, 453)
	f.Add(strings.Repeat("👩‍👧 ", 200), 100, 2000)
	f.Add(strings.Repeat("\u0301", 400), 400, 400)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		evidence := &extraction.Evidence{ByteStart: start, ByteEnd: end}
		if !utf8.ValidString(text) || start < 0 || end < start || end > len(text) ||
			!utf8.ValidString(text[:start]) || !utf8.ValidString(text[:end]) {
			require.NotPanics(t, func() { extraction.Excerpts(text, []extraction.Entity{{Evidence: evidence}}, nil) })
			return
		}
		first := &extraction.Evidence{ByteEnd: min(1, len(text))}
		if len(text) > 0 && !utf8.ValidString(text[:1]) {
			first = evidence
		}
		excerpts := extraction.Excerpts(text, []extraction.Entity{{Evidence: evidence}, {Evidence: first}}, nil)
		require.NotEmpty(t, excerpts)
		covered, last := false, -1
		for _, e := range excerpts {
			require.Greater(t, e.ByteStart, last, "in order, and apart")
			last = e.ByteStart + len(e.Text)
			require.Equal(t, text[e.ByteStart:last], e.Text)
			require.True(t, utf8.ValidString(e.Text), "no character is cut")
			covered = covered || e.ByteStart <= start && end <= last
			if r, _ := utf8.DecodeRuneInString(text[last:]); last < len(text) {
				require.True(t, last == end || !unicode.IsMark(r), "an accent stays with its letter")
			}
		}
		require.True(t, covered)
		require.True(t, slices.IsSortedFunc(excerpts, func(a, b extraction.Excerpt) int { return a.ByteStart - b.ByteStart }))
	})
}
