package prose_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// read writes the tokens of each sentence with spaces between, opaque ones in
// angle brackets, titles with a # before.
func read(text string) []string {
	var out []string
	for _, s := range prose.Split(text) {
		var words []string
		for _, t := range s.Tokens {
			w := text[t.Start:t.End]
			if t.Opaque {
				w = "<" + w + ">"
			}
			words = append(words, w)
		}
		line := strings.Join(words, " ")
		if s.Title {
			line = "# " + line
		}
		out = append(out, line)
	}
	return out
}

func TestSentencesAndWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Bob'dé and Bob'd.":                                 {"Bob'dé and Bob 'd ."},
		"Dr. J. R. Smith met Mr. O'Brien. He left.":         {"Dr. J. R. Smith met Mr. O'Brien .", "He left ."},
		"The U.S. Navy bought 1,200.5 t. It sank.":          {"The U.S. Navy bought 1,200.5 t .", "It sank ."},
		"He worked at Apple Inc. The firm grew.":            {"He worked at Apple Inc.", "The firm grew ."},
		"Ada's engine isn't slow; Bob’s is.":                {"Ada 's engine isn't slow ; Bob ’s is ."},
		"\"Stop!\" she said. \"Why?\" He ran.":              {"\" Stop ! \" she said .", "\" Why ? \"", "He ran ."},
		"The so-called end… Nothing came.":                  {"The so - called end …", "Nothing came ."},
		"one\ntwo three\n\nfour five six seven eight.":      {"one two three", "four five six seven eight ."},
		"夏目漱石は。東京":                                          {"夏 目 漱 石 は 。", "東 京"},
		"e\u0301te\u0301 was hot.":                          {"e\u0301te\u0301 was hot ."},
		"Version v1.2.3 of it is out. Get it.":              {"Version v1 . 2.3 of it is out .", "Get it ."},
		"She came at 5 p.m. on Monday. He did not.":         {"She came at 5 p.m. on Monday .", "He did not ."},
		"It was founded in 1912 (see below). Then it died.": {"It was founded in 1912 ( see below ) .", "Then it died ."},
	} {
		require.Equal(t, want, read(text), text)
	}
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string][]string{
		"# Big Title\n\nThis is text.\n":                              {"# Big Title", "This is text ."},
		"Big Title\n=========\nThis is text.":                         {"# Big Title", "This is text ."},
		"A `code span` here, **bold** and [a link](http://x.y).":      {"A <`code span`> here , bold and a link ."},
		"![badge](http://x/y.png) See [it][ref]!\n\n[ref]: http://x":  {"See it !"},
		"Before it.\n```go\nfunc main() {}\n```\nAfter it.":           {"Before it .", "After it ."},
		"Before it.\n~~~\nnever closed\n":                             {"Before it ."},
		"- one thing here\n- two things there\n":                      {"one thing here", "two things there"},
		"1. [x] done with all of it\n> quoted words of hers in a row": {"done with all of it", "quoted words of hers in a row"},
		"| Head | Other |\n|:--|--:|\n| cell one | two |":             {"# Head", "# Other", "# cell one", "# two"},
		"Read /etc/passwd, main.go and get_name() with --force on https://a.b/c.": {
			"Read </etc/passwd> , <main.go> and <get_name()> with <--force> on <https://a.b/c.>"},
		"The iPhone and maxSize differ.": {"The iPhone and <maxSize> differ ."},
		"<b>Bold</b> words &amp; very plain <!-- hidden --> text of somebody who writes HTML.": {"Bold words <&amp;> very plain text of somebody who writes HTML ."},
		"$ make install\nx := y + f(z)\nreal words here, you see":                              {"real words here , you see"},
		"***\nline one goes\non here.":                                                         {"line one goes on here ."},
	} {
		require.Equal(t, want, read(text), text)
	}
}

// FuzzSplit: tokens are non-empty, in order, apart from each other and never cut
// a rune; sentences are bounded.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "a", "Dr. A's. B", "```\n`` ` ```", "| a | b\n|-", "\xff\xfe'\xff", "’s", "[](", "# \n#\n", "a\u200bb", strings.Repeat("x ", 600), "-- $ =", "\r\n\r\n- \r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range prose.Split(text) {
			require.NotEmpty(t, s.Tokens)
			require.LessOrEqual(t, len(s.Tokens), 256)
			for _, tok := range s.Tokens {
				require.GreaterOrEqual(t, tok.Start, at)
				require.Greater(t, tok.End, tok.Start)
				require.LessOrEqual(t, tok.End, len(text))
				if utf8.ValidString(text) {
					require.True(t, utf8.ValidString(text[tok.Start:tok.End]), "%q", text[tok.Start:tok.End])
				}
				at = tok.End
			}
			require.Equal(t, s.Tokens[0].Start, s.Start())
			require.Equal(t, at, s.End())
		}
	})
}
