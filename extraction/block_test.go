package extraction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// R37: headings, tables and code stay whole where they can.
func TestSplitKeepsMarkdownBlocksTogether(t *testing.T) {
	code := "```go\nfunc main() {\n\n\tprintln(1)\n}\n```"
	rows := "| who | when |\n|-----|------|\n| Ada | 1833 |\n| Bob | 1834 |"
	bare := "who | when\n--- | ---\nAda | 1833\nBob | 1834"
	drawn := "+-----+------+\n| Ada | 1833 |\n+-----+------+"
	for name, c := range map[string]struct {
		size int
		text string
		want []string
	}{
		"code":             {55, "Before it. A sentence.\n\n" + code + "\n\nAfter it comes this.", []string{"Before it. A sentence.", code, "After it comes this."}},
		"code, no gap":     {55, "Before it. A sentence.\n" + code + "\nAfter it comes this.", []string{"Before it. A sentence.", code, "After it comes this."}},
		"tildes":           {60, "Before. A sentence.\n\n~~~~\na. b. c\n\n~~~\nd. e. f. g. h. i.\n~~~~\nAfter comes this.", []string{"Before. A sentence.", "~~~~\na. b. c\n\n~~~\nd. e. f. g. h. i.\n~~~~\nAfter comes this."}},
		"code with #":      {60, "Before this.\n\n```\n# not a heading. No.\n\n# one more. No.\n```\n\nAfter comes this.", []string{"Before this.\n\n```\n# not a heading. No.\n\n# one more. No.\n```", "After comes this."}},
		"table":            {70, "Before. A sentence.\n\n" + rows + "\n\nAfter it comes this.", []string{"Before. A sentence.", rows, "After it comes this."}},
		"table, no bars":   {60, "Before. A sentence.\n\n" + bare + "\n\nAfter it comes this.", []string{"Before. A sentence.", bare, "After it comes this."}},
		"drawn table":      {60, "Before. A sentence.\n\n" + drawn + "\n\nAfter it comes this.", []string{"Before. A sentence.", drawn, "After it comes this."}},
		"heading, code":    {57, "Before it.\n\n# Title\n\n" + code + "\n\nAfter it comes this, and is long.", []string{"Before it.", "# Title\n\n" + code, "After it comes this, and is long."}},
		"heading, no gap":  {40, "Some body text is here.\n## Heading\nMore body text.", []string{"Some body text is here.", "## Heading\nMore body text."}},
		"headings":         {40, "Some body text is here.\n\n# A\n## B\n\n### C\nMore body text.", []string{"Some body text is here.", "# A\n## B\n\n### C\nMore body text."}},
		"underlined":       {44, "Some body text is here.\n\nHeading\n=======\n\nMore body text.", []string{"Some body text is here.", "Heading\n=======\n\nMore body text."}},
		"no heading":       {30, "Some body text.\n\n#1 is no heading.\n\nMore body text.", []string{"Some body text.", "#1 is no heading.", "More body text."}},
		"large code":       {30, "```\nline one\nline two. x\n\nline three\nline four\n```", []string{"```\nline one\nline two. x", "line three\nline four\n```"}},
		"large code, full": {30, "```\nline one\nline two. x\nline three\nline four\n```", []string{"```\nline one\nline two. x", "line three\nline four\n```"}},
		"large table":      {46, rows + "\n| Cyd | 1835 |\n| Dee | 1836 |", []string{"| who | when |\n|-----|------|\n| Ada | 1833 |", "| Bob | 1834 |\n| Cyd | 1835 |\n| Dee | 1836 |"}},
		"open fence":       {30, "```\nThis one. Is never closed.\n\nAnd goes on. To the end.", []string{"```\nThis one. Is never closed.", "And goes on. To the end."}},
	} {
		t.Run(name, func(t *testing.T) {
			chunks := split(t, c.size, 0, c.text)
			require.Equal(t, c.want, texts(chunks))
			for _, size := range []int{1, 7, 20, 33, 100} {
				for _, overlap := range []int{0, size / 3, size - 1} {
					checkSplit(t, c.text, size, overlap, split(t, size, overlap, c.text))
				}
			}
		})
	}
}

// R37: a heading that only the reader of a file knows stays with its text, too, with a blank line
// below it and of several lines.
func TestSplitKeepsNamedHeadingsWithTheirText(t *testing.T) {
	text := "Some body text is here, and more of it.\n\nEarly\nlife\n\nParis\n\nMore body text."
	at := strings.Index(text, "Early")
	marks := []extraction.Mark{
		{Offset: 3, Key: extraction.MarkSection, Value: "Not here"},
		{Offset: at, Key: extraction.MarkSection, Value: "Early\nlife"},
		{Offset: at + len("Early\nlife\n\n"), Key: extraction.MarkSection, Value: "Paris"},
		{Offset: len(text) + 9, Key: extraction.MarkSection, Value: "Beyond"},
	}
	for size := 40; size < 74; size++ {
		s, err := extraction.NewSplitter(size, 0)
		require.NoError(t, err)
		chunks, err := s.Split(extraction.Document{Text: text, Marks: marks})
		require.NoError(t, err)
		require.Equal(t, []string{"Some body text is here, and more of it.", "Early\nlife\n\nParis\n\nMore body text."}, texts(chunks), size)
		checkSplit(t, text, size, 0, chunks)
	}
	// Without the marks these are short paragraphs like any other.
	require.Equal(t, []string{"Some body text is here, and more of it.\n\nEarly\nlife", "Paris\n\nMore body text."}, texts(split(t, 56, 0, text)))
}

// Where the overlap falls into a table or into code it begins with a whole line.
func TestSplitOverlapBeginsWithALineOfABlock(t *testing.T) {
	var text strings.Builder
	text.WriteString("| n | word |\n|---|------|\n")
	for i := range 60 {
		fmt.Fprintf(&text, "| %d | one. Two three |\n", i)
	}
	chunks := split(t, 300, 60, text.String())
	require.Greater(t, len(chunks), 3)
	for i, c := range chunks[1:] {
		require.True(t, strings.HasPrefix(c.Text, "| "), c.Text)
		require.Less(t, c.ByteStart, chunks[i].ByteEnd, "no overlap")
	}
}

// A block that fits, with the heading above it, into a chunk is in one chunk,
// whatever stands around it and however much the chunks overlap.
func TestSplitNeverCutsABlockThatFits(t *testing.T) {
	line := rapid.StringMatching(`[a-zA-Z.,0-9 漢字]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(40, 200).Draw(t, "size")
		overlap := rapid.IntRange(0, size-1).Draw(t, "overlap")
		var text strings.Builder
		var whole [][2]int
		for range rapid.IntRange(1, 12).Draw(t, "parts") {
			start := text.Len()
			if rapid.Bool().Draw(t, "heading") {
				text.WriteString("## " + rapid.StringMatching(`[a-z]{1,10}`).Draw(t, "title") + "\n\n")
			}
			var block string
			switch lines := rapid.SliceOfN(line, 1, 8).Draw(t, "lines"); rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				text.WriteString("x" + strings.Join(lines, " ") + "\n\n")
				continue
			case 1:
				block = "```\n" + strings.Join(lines, "\n") + "\n```"
			case 2:
				block = "| h | i |\n|---|---|\n| " + strings.Join(lines, " | x |\n| ") + " |"
			}
			text.WriteString(block)
			if len([]rune(text.String()[start:])) <= size {
				whole = append(whole, [2]int{text.Len() - len(block), text.Len()})
			}
			text.WriteString("\n\n")
		}
		s, err := extraction.NewSplitter(size, overlap)
		require.NoError(t, err)
		chunks, err := s.Split(extraction.Document{Text: text.String()})
		require.NoError(t, err)
		checkSplit(t, text.String(), size, overlap, chunks)
		for _, b := range whole {
			in := false
			for _, c := range chunks {
				in = in || c.ByteStart <= b[0] && b[1] <= c.ByteEnd
			}
			require.True(t, in, "%q is in no chunk of %q", text.String()[b[0]:b[1]], texts(chunks))
		}
	})
}

// No script needs spaces to be cut at its sentences.
func TestSplitCutsEveryScriptAtSentences(t *testing.T) {
	for name, c := range map[string]struct{ sentence, gap string }{
		"Chinese":  {"我来自北京市朝阳区，在那里长大。", ""},
		"Japanese": {"私は東京から来ました。", ""},
		"Arabic":   {"أين ولدت آدا، ومع من عملت؟", " "},
		"Urdu":     {"ایڈا لندن میں پیدا ہوئی۔", " "},
		"Hindi":    {"एडा का जन्म लंदन में हुआ।", " "},
		"Thai":     {"เอดาเกิดที่ลอนดอนและทำงานกับชาร์ลส์", " "}, // a space ends a sentence
		"Khmer":    {"អេដាកើតនៅទីក្រុងឡុងដ៍។", " "},
		"Russian":  {"Ада родилась в Лондоне.", " "},
		"Greek":    {"Η Άντα γεννήθηκε στο Λονδίνο.", " "},
		"Korean":   {"에이다는 런던에서 태어났다.", " "},
		"Amharic":  {"አዳ በለንደን ተወለደች።", " "},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(c.sentence+c.gap, 200)
			for _, chunk := range split(t, 400, 0, text) {
				require.True(t, strings.HasPrefix(chunk.Text, c.sentence) && strings.HasSuffix(chunk.Text, c.sentence), chunk.Text)
			}
		})
	}
}
