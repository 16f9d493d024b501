package extraction_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func splitter(t testing.TB, size, overlap int) *extraction.Splitter {
	t.Helper()
	s, err := extraction.NewSplitter(size, overlap)
	require.NoError(t, err)
	return s
}

func split(t testing.TB, size, overlap int, text string) []extraction.Chunk {
	t.Helper()
	chunks, err := splitter(t, size, overlap).Split(extraction.Document{Text: text})
	require.NoError(t, err)
	return chunks
}

func texts(chunks []extraction.Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

// R37: the defaults are 3000 characters with 200 of overlap.
func TestSplitDefaultsAre3000And200(t *testing.T) {
	require.Equal(t, 3000, extraction.DefaultChunkSize)
	require.Equal(t, 200, extraction.DefaultChunkOverlap)
	_, err := extraction.NewSplitter(extraction.DefaultChunkSize, extraction.DefaultChunkOverlap)
	require.NoError(t, err)
}

func TestSplitterRefusesArgumentsByName(t *testing.T) {
	for _, c := range []struct {
		size, overlap int
		argument      string
	}{
		{0, 0, "size"}, {-1, 0, "size"}, {10, -1, "overlap"}, {10, 10, "overlap"}, {10, 11, "overlap"},
	} {
		_, err := extraction.NewSplitter(c.size, c.overlap)
		var arg *extraction.ArgumentError
		require.ErrorAs(t, err, &arg, "%+v", c)
		require.Equal(t, c.argument, arg.Argument)
		require.ErrorContains(t, err, c.argument)
	}
}

func TestSplitFillsIdentityAndProvenance(t *testing.T) {
	doc := extraction.Document{
		Title: "T", URI: "file:x", Domain: "d", Metadata: map[string]string{"k": "v"},
		Text: strings.Repeat("One sentence here. ", 20),
	}
	chunks, err := splitter(t, 100, 30).Split(doc)
	require.NoError(t, err)
	require.Greater(t, len(chunks), 3)
	for i, c := range chunks {
		require.Equal(t, extraction.DocumentID(doc.Text), c.DocumentID)
		require.Equal(t, extraction.TextSHA256(doc.Text), c.DocumentSHA256)
		require.Equal(t, extraction.ChunkID(c.DocumentID, i, c.Text), c.ChunkID)
		require.Equal(t, i, c.Index)
		require.Equal(t, len(chunks), c.Total)
		require.Equal(t, "T|file:x|d|v", c.Title+"|"+c.URI+"|"+c.Domain+"|"+c.Metadata["k"])
	}
	doc.ID = "mine"
	again, err := splitter(t, 100, 30).Split(doc)
	require.NoError(t, err)
	require.Equal(t, "mine", again[0].DocumentID)
	require.NotEqual(t, chunks[0].ChunkID, again[0].ChunkID)
}

// The position in the source goes with every chunk.
// twice is a text that was extracted from a document of two bytes for each.
type twice struct{}

func (twice) Range(start, end int) (from, to int, ok bool) { return 2 * start, 2 * end, true }

func TestSplitSaysWhereAnExtractedTextStands(t *testing.T) {
	doc := extraction.Document{Text: "Ada met Bob. Cy met Dee.", Metadata: map[string]string{"k": "v"}}
	splitter, err := extraction.NewSplitter(14, 0)
	require.NoError(t, err)
	for _, tc := range []struct {
		origin     extraction.Origin
		start, end int
		metadata   map[string]string
	}{
		{nil, 13, 24, map[string]string{"k": "v"}},
		{twice{}, 26, 48, map[string]string{"k": "v", "text_start": "13", "text_end": "24"}},
		{extraction.NoOrigin{}, 0, 0, map[string]string{"k": "v", "text_start": "13", "text_end": "24"}},
	} {
		doc.Origin = tc.origin
		chunks, err := splitter.Split(doc)
		require.NoError(t, err)
		require.Len(t, chunks, 2)
		require.Equal(t, "Cy met Dee.", chunks[1].Text)
		require.Equal(t, [2]int{tc.start, tc.end}, [2]int{chunks[1].ByteStart, chunks[1].ByteEnd})
		require.Equal(t, tc.metadata, chunks[1].Metadata)
	}
	require.Len(t, doc.Metadata, 1, "the document's own is left alone")
}

func TestSplitMarksWhereChunksStand(t *testing.T) {
	doc := extraction.Document{
		Text:     "Aaaa aaaa. Bbbb bbbb. Cccc cccc. Dddd dddd.",
		Metadata: map[string]string{"k": "v", "own": "mine"},
		Marks: []extraction.Mark{
			{Offset: 0, Key: "page", Value: "1"}, {Offset: 5, Key: "own", Value: "not mine"}, {Offset: 11, Key: "page", Value: "2"},
			{Offset: 15, Key: "section", Value: "One"}, {Offset: 22, Key: "page", Value: "3"}, {Offset: 40, Key: "page", Value: "4"},
		},
	}
	chunks, err := splitter(t, 22, 0).Split(doc)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	require.Equal(t, map[string]string{"k": "v", "own": "mine", "page": "1", "page_end": "2", "section": "One"}, chunks[0].Metadata)
	require.Equal(t, map[string]string{"k": "v", "own": "mine", "page": "3", "page_end": "4", "section": "One"}, chunks[1].Metadata)
	require.Equal(t, map[string]string{"k": "v", "own": "mine"}, doc.Metadata)
}

// R37: paragraphs before sentences before words.
func TestSplitPrefersParagraphsThenSentencesThenLinesThenWords(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		text string
		want []string
	}{
		"paragraph": {40, "One is here. Two is here.\n\nThree. Four is also here.", []string{"One is here. Two is here.", "Three. Four is also here."}},
		"crlf":      {40, "One is here. Two is here.\r\n \t\r\nThree. Four is also here.", []string{"One is here. Two is here.", "Three. Four is also here."}},
		"sentence":  {40, "One is here. Two is here. Three is a longer sentence.", []string{"One is here. Two is here.", "Three is a longer sentence."}},
		"wrapped":   {44, "One is here. Two is here. Three is a\nlonger sentence that is wrapped.", []string{"One is here. Two is here.", "Three is a\nlonger sentence that is wrapped."}},
		"line":      {30, "alpha, beta, gamma\ndelta, epsilon, zeta\neta", []string{"alpha, beta, gamma", "delta, epsilon, zeta\neta"}},
		"word":      {20, "alpha beta gamma delta epsilon", []string{"alpha beta gamma", "delta epsilon"}},
		"cjk":       {12, "我来自北京市朝阳区。他来自上海市浦东新区。", []string{"我来自北京市朝阳区。", "他来自上海市浦东新区。"}},
		"title":     {26, "He met Mrs. Ada. It was Dr. Smith who came.", []string{"He met Mrs. Ada.", "It was Dr. Smith who came."}},
		"initials":  {34, "Rings exist. By J. R. R. Tolkien they were made.", []string{"Rings exist. By J. R. R. Tolkien", "they were made."}},
		"heading":   {40, "Some body text is here.\n\n## Heading\n\nMore body text follows.", []string{"Some body text is here.", "## Heading\n\nMore body text follows."}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, texts(split(t, c.size, 0, c.text)))
		})
	}
}

func TestSplitOverlapBeginsWithASentence(t *testing.T) {
	text := "Alpha came first. Beta came then. Gamma was third. Delta was the last of all."
	require.Equal(t, []string{
		"Alpha came first. Beta came then. Gamma was third.",
		"Gamma was third. Delta was the last of all.",
	}, texts(split(t, 55, 20, text)))
}

// R37, neo4j-graphrag#471: a run without a boundary must not stop the splitter.
func TestSplitProgressesWithoutBoundaries(t *testing.T) {
	for name, text := range map[string]string{
		"x":            "a " + strings.Repeat("x", 10_000),
		"cjk":          strings.Repeat("漢", 10_000),
		"marks":        "e" + strings.Repeat("\u0301", 10_000),
		"space":        "a" + strings.Repeat(" ", 10_000) + "b",
		"crlf":         strings.Repeat("\r\n", 5_000) + "x" + strings.Repeat("\r\n", 5_000),
		"flags":        strings.Repeat("🇩🇪", 5_000),
		"family":       strings.Repeat("👩‍👩‍👧‍👦", 1_000),
		"stops":        strings.Repeat(".", 10_000),
		"cjk stops":    strings.Repeat("中.", 5_000),
		"zero width":   "a" + strings.Repeat("\u200b", 10_000) + "b",
		"spaced words": strings.Repeat("x"+strings.Repeat(" ", 1500), 10),
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct{ size, overlap int }{{3000, 0}, {3000, 200}, {50, 49}} {
				checkSplit(t, text, c.size, c.overlap, split(t, c.size, c.overlap, text))
			}
		})
	}
}

func TestSplitKeepsGraphemesWhole(t *testing.T) {
	for _, cluster := range []string{"🇩🇪", "👩‍👩‍👧‍👦", "e\u0301\u0302", "각", "\r\n"} {
		text := "a" + strings.Repeat(cluster, 500) + "b"
		boundary := map[int]bool{}
		for it := graphemes.FromString(text); it.Next(); {
			boundary[it.Start()], boundary[it.End()] = true, true
		}
		for size := 20; size < 31; size++ {
			for _, c := range split(t, size, 8, text) {
				require.True(t, boundary[c.ByteStart] && boundary[c.ByteEnd], "%q cut at %d-%d, size %d", cluster, c.ByteStart, c.ByteEnd, size)
			}
		}
	}
}

func TestSplitRefusesWhatCannotBeWorkedOn(t *testing.T) {
	s := splitter(t, 3000, 200)
	for _, text := range []string{"", " \n\t", "\ufeff", "\u200b\u00a0"} {
		_, err := s.Split(extraction.Document{Text: text})
		require.ErrorIs(t, err, extraction.BlankTextError{}, "%q", text)
	}
	for text, want := range map[string]extraction.InvalidTextError{
		"caf\xe9 au lait": {Offset: 3, Reason: extraction.ReasonInvalidUTF8},
		"é\x00x":          {Offset: 2, Reason: extraction.ReasonNUL},
		"x\xed\xa0\x80":   {Offset: 1, Reason: extraction.ReasonInvalidUTF8},
	} {
		_, err := s.Split(extraction.Document{Text: text})
		var invalid *extraction.InvalidTextError
		require.True(t, errors.As(err, &invalid), "%q", text)
		require.Equal(t, want, *invalid)
		require.ErrorContains(t, err, fmt.Sprint(want.Offset))
	}
}

// checkSplit states what every split promises (R37).
func checkSplit(t require.TestingT, text string, size, overlap int, chunks []extraction.Chunk) {
	end := 0
	for i, c := range chunks {
		require.Equal(t, text[c.ByteStart:c.ByteEnd], c.Text, "chunk %d is not its slice of the document", i)
		require.True(t, utf8.ValidString(c.Text), "chunk %d splits a rune", i)
		require.LessOrEqual(t, utf8.RuneCountInString(c.Text), size, "chunk %d is too large", i)
		require.NoError(t, extraction.CheckText(c.Text), "chunk %d", i)
		require.Greater(t, c.ByteEnd, end, "chunk %d brings nothing new", i)
		if c.ByteStart < end {
			require.LessOrEqual(t, utf8.RuneCountInString(text[c.ByteStart:end]), overlap, "chunk %d overlaps too much", i)
		} else {
			requireInvisible(t, text[end:c.ByteStart])
		}
		end = c.ByteEnd
	}
	requireInvisible(t, text[end:])
}

func requireInvisible(t require.TestingT, gap string) {
	for _, r := range gap {
		require.True(t, unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector), "%q is in no chunk", r)
	}
}

func TestSplitProperties(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{" ", "\n", "\n\n", "\r\n\r\n", ". ", "。", "Dr. ", "word", "漢字", "👩‍👧", "🇩🇪", "e\u0301", "\u200b", "\ufeff", "# H\n\n", "```\n", "~~~", "| a |\n", "\n|-|\n", "a | b\n-|-\n", "\n===\n", "xxxxxxxxxxxxxxxx", "\u2029", "              "}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
		size := rapid.IntRange(1, 40).Draw(t, "size")
		overlap := rapid.IntRange(0, size-1).Draw(t, "overlap")
		s, err := extraction.NewSplitter(size, overlap)
		require.NoError(t, err)
		chunks, err := s.Split(extraction.Document{Text: text})
		if want := extraction.CheckText(text); want != nil {
			require.Equal(t, want, err)
			return
		}
		require.NoError(t, err)
		require.NotEmpty(t, chunks)
		checkSplit(t, text, size, overlap, chunks)
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("One. Two.\n\nThree Dr. Four.", 10, 3)
	f.Add("a "+strings.Repeat("x", 100), 7, 6)
	f.Add("# H\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n\ncode\n```\n", 20, 9)
	f.Add("漢字。\r\n\r\n👩‍👩‍👧‍👦\u200b \x00 \xff", 1, 0)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		s, err := extraction.NewSplitter(size, overlap)
		if err != nil || size > 5000 {
			return
		}
		chunks, err := s.Split(extraction.Document{Text: text})
		if err == nil {
			checkSplit(t, text, size, overlap, chunks)
		}
	})
}

var samples = map[string]string{
	"prose":   strings.Repeat("Ada Lovelace met Charles Babbage in London in 1833, and wrote the first program. She was 17 years old. ", 12) + "\n\n",
	"wrapped": strings.Repeat("Dr. Smith of Acme Corp. wrote to Prof. Jones about engines,\nlooms and cards. ", 30) + "\n",
	"cjk":     strings.Repeat("私は東京から来ました。彼女は京都で生まれ、大阪で働いています。", 40),
	"lines":   strings.Repeat("alpha,beta,gamma,delta,1,2,3\n", 60),
	"dense":   strings.Repeat("漢字仮名", 500),
	"x":       strings.Repeat("x", 4000),
	"thai":    strings.Repeat("เอดาเกิดที่ลอนดอนและทำงานกับชาร์ลส์", 40),
	"arabic":  strings.Repeat("ولدت آدا في لندن، وعملت مع تشارلز. أين كانت؟ ", 40),
	"markdown": "# Engines\n\n" + strings.Repeat("The engine was *designed* by [Babbage](https://example.org), see below. ", 12) +
		"\n\n| part | maker | year |\n|------|-------|------|\n" + strings.Repeat("| mill | Clement | 1833 |\n", 30) +
		"\n```go\nfunc main() {\n" + strings.Repeat("\tprintln(\"mill\") // turn it\n", 20) + "}\n```\n\n",
}

func BenchmarkSplit(b *testing.B) {
	for name, sample := range samples {
		text := strings.Repeat(sample, 2<<20/len(sample))
		s := splitter(b, extraction.DefaultChunkSize, extraction.DefaultChunkOverlap)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := s.Split(extraction.Document{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
