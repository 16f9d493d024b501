package htmltext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

func TestReadableTextOnly(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain":           {"Ada met Charles.", "Ada met Charles."},
		"inline":          {"<b>Ada</b> met <i>Char</i>les.", "Ada met Charles."},
		"entities":        {"<p>Ada &amp; Charles &lt;3 caf&eacute;</p>", "Ada & Charles <3 café"},
		"paragraphs":      {"<p>One.</p><p>Two.</p>", "One.\n\nTwo."},
		"lines":           {"One.<br>Two.<div>Three.</div>", "One.\nTwo.\nThree."},
		"script":          {"<p>One.</p><script>var x = '<p>no</p>';</script><style>p{}</style><p>Two.</p>", "One.\n\nTwo."},
		"head":            {"<html><head><title>T</title><meta name=a></head><body>One.</body></html>", "One."},
		"nested hidden":   {"<svg><svg>a</svg>b</svg>One.", "One."},
		"white space":     {"  One\n\t two <b> three</b>  ", "One two three"},
		"preformatted":    {"<pre>a\n  b</pre>", "a\n  b"},
		"table":           {"<table><tr><td>Ada</td><td>1815</td></tr><tr><td>Babbage</td><td>1791</td></tr></table>", "Ada 1815\nBabbage 1791"},
		"comment":         {"One.<!-- no -->", "One."},
		"broken":          {"<p>One<p>Two</b></p", "One\n\nTwo"},
		"unclosed script": {"One.<script>two", "One."},
		"nothing":         {"<p> </p>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, htmltext.Text(tc.in))
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("<p>One &amp; two</p>")
	f.Add("<script><svg><pre></p>")
	f.Fuzz(func(t *testing.T, source string) {
		if !utf8.ValidString(source) {
			t.Skip()
		}
		text := htmltext.Text(source)
		if !utf8.ValidString(text) {
			t.Fatalf("not UTF-8: %q", text)
		}
		if text != strings.TrimSpace(text) {
			t.Fatalf("white space around: %q", text)
		}
	})
}
