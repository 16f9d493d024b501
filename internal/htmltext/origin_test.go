package htmltext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

// The range of a text covers the bytes of the source that it came from, entities, tags
// and white space in between included, and no more.
func TestWhereInThePageATextStands(t *testing.T) {
	for _, tc := range []struct{ source, text, from string }{
		{"<p>Ada met Bob.</p>", "met", "met"},
		{"<p>Ada &amp; Bob</p>", "&", "&amp;"},
		{"<p>Ada &amp; Bob</p>", "Ada & Bob", "Ada &amp; Bob"},
		{"<p>Ada\n\t met  <b>Bob</b>.", "met Bob.", "met  <b>Bob</b>."},
		{"<p>Ada met <b>Bob</b>.", "Bob", "Bob"},
		{"<p>Char<i>les</i> met Ada.", "Charles", "Char<i>les"},
		{"<p>One.</p>\n<script>no</script>\n<p>Two.</p>", "One.\n\nTwo.", "One.</p>\n<script>no</script>\n<p>Two."},
		{"<p>caf&eacute;s</p>", "cafés", "caf&eacute;s"},
		{"<p>caf&eacute;s</p>", "é", "&eacute;"},
		{"<p>a &ltb &notit; &#67;</p>", "<b", "&ltb"},
		{"<p>a &ltb &notit; &#67;</p>", "¬it;", "&notit;"},
		{"<p>a &ltb &notit; &#67;</p>", "it;", "it;"},
		{"<p>a &ltb &notit; &#67;</p>", "C", "&#67;"},
		{"<p>a &semi; b&semi;;", "; b", "&semi; b"},
		{"<p>a &NotEqualTilde; b", "≂̸", "&NotEqualTilde;"},
		{"<p>東京&emsp;は&nbsp;都", "は 都", "は&nbsp;都"},
		{"<pre>\r\na\r\n  b\rc</pre>", "a\n  b", "a\r\n  b"},
		{"<pre>a\r\n  b\rc</pre>", "c", "c"},
		{"<p>a\x01\x02b c", "ab", "a\x01\x02b"},
		{"<p>a\x01\x02b c", "c", "c"},
		{"<textarea>a &lt; b</textarea>", "a < b", "a &lt; b"},
		{"<xmp>a &lt; b</xmp>", "&lt;", "&lt;"},
		{"<p>One <span hidden>no</span>two", "One two", "One <span hidden>no</span>two"},
		{"<!-- a --><p>a", "a", "a"},
	} {
		page := htmltext.Read(tc.source)
		at := strings.Index(page.Text, tc.text)
		require.GreaterOrEqual(t, at, 0, "%q in %q", tc.text, page.Text)
		from, to, ok := page.Origin.Range(at, at+len(tc.text))
		require.True(t, ok)
		require.Equal(t, tc.from, tc.source[from:to], "%q of %q", tc.text, tc.source)
		checkOrigin(t, tc.source, page)
	}
	page := htmltext.ReadXHTML("<p>One <![CDATA[two & three]]> four</p>")
	from, to, ok := page.Origin.Range(strings.Index(page.Text, "two"), len(page.Text))
	require.True(t, ok)
	require.Equal(t, [2]int{16, 35}, [2]int{from, to})
}

// checkOrigin looks where each character of a page stands.
func checkOrigin(t *testing.T, source string, page htmltext.Page) {
	t.Helper()
	last := 0
	for i, r := range page.Text {
		if unicode.IsSpace(r) || r == utf8.RuneError {
			continue
		}
		from, to, ok := page.Origin.Range(i, i+utf8.RuneLen(r))
		if !ok || from < last || to > len(source) {
			t.Fatalf("%q at %d of %q is %d:%d of %q, after %d (%v)", r, i, page.Text, from, to, source, last, ok)
		}
		if piece := source[from:to]; piece != string(r) && !strings.ContainsRune(html.UnescapeString(piece), r) {
			t.Fatalf("%q at %d of %q is %q of %q", r, i, page.Text, piece, source)
		}
		last = from
	}
}
