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
		"heading":         {"<p>One.</p><h2>Two</h2><p>Three.</p>", "One.\n\nTwo\n\nThree."},
		"pre, spaces":     {"<pre>\n  a \n   \n</pre>b", "a \n   \nb"},
		"controls":        {"a\x00b\x01c\u0085d<pre>e\r\nf</pre>", "abc d\n\ne\nf"},
		"title":           {"<title>no</title>One.<svg><title>no</title></svg>", "One."},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, htmltext.Read(tc.in).Text)
		})
	}
}

// The blocks and boxes of the HTML standard's own style sheet: the words of one never run into
// those around it.
func TestBlocksAreApart(t *testing.T) {
	for names, gap := range map[string]string{
		"address article aside blockquote center details dialog dir dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup " +
			"legend listing main menu nav ol p pre search section summary ul xmp": "\n\n",
		"div li dt dd option optgroup":            "\n",
		"button select textarea marquee":          " ",
		"a b code ins label math q slot span x-y": "",
	} {
		for _, name := range strings.Fields(names) {
			source := "<div>Berlin<" + name + " open>Contact Ada</" + name + ">Babbage</div>"
			require.Equal(t, "Berlin"+gap+"Contact Ada"+gap+"Babbage", htmltext.Read(source).Text, name)
		}
	}
	for source, want := range map[string]string{
		"One<hr>Two<br>Three<input>Four":                                                        "One\n\nTwo\nThree Four",
		"<details><summary>Who was Ada</summary>Ada was born.</details>":                        "Who was Ada\n\nAda was born.",
		"<table><caption>Chief scientists</caption><tr><td>Ada<td>Charles</table>":              "Chief scientists\n\nAda Charles",
		"<select><optgroup label=x><option>One<option>Two</optgroup><option>Three</select>Four": "One\nTwo\nThree Four",
		"One<video>no</video>two<svg><title>no</title><text>no</text></svg>three":               "One twothree",
	} {
		require.Equal(t, want, htmltext.Read(source).Text, source)
	}
}

func TestTitleAndHeadings(t *testing.T) {
	page := htmltext.Read("<head><title> A &amp;\n B </title></head><pre>\n x</pre><h1>One <i>two</i></h1>Three<h2></h2><h3>\n Four</h3>")
	require.Equal(t, "A & B", page.Title)
	require.Equal(t, "x\n\nOne two\n\nThree\n\nFour", page.Text)
	require.Equal(t, []htmltext.Heading{{Offset: 3, Text: "One two"}, {Offset: 19, Text: "Four"}}, page.Headings)
}

// Trap: what HTML does not require to be closed must not swallow the text.
func TestNothingIsLostWhereNoEndIsWritten(t *testing.T) {
	for source, want := range map[string]string{
		"<!DOCTYPE html><html><head><title>T</title><body><p>Ada.</p></body></html>":                            "Ada.",
		"<!DOCTYPE html><head><meta charset=utf-8><title>T</title><link rel=x><style>a</style><p>Ada.":          "Ada.",
		"<head><base href=x><noscript><style>p{}</style></noscript><script>x</script>\nAda.":                    "Ada.",
		"<html><head><title>T</title></head><head><title>U</title></head><body>Ada.":                            "Ada.",
		"<p>One<p>Two<ul><li>Three<li>Four</ul><dl><dt>Five<dd>Six</dl>":                                        "One\n\nTwo\n\nThree\nFour\n\nFive\nSix",
		"<table><caption>C<colgroup><col><thead><tr><th>A<th>B<tbody><tr><td>1<td>2<tfoot><tr><td>3</table>End": "C\nA B\n1 2\n3\n\nEnd",
		"<select><optgroup label=x><option>One<option>Two</select>":                                             "One\nTwo",
		"<ruby>Ada<rt>a<rp>)</ruby>":                        "Adaa)",
		"One.<script>two":                                   "One.",
		"One.<style>two":                                    "One.",
		"One.<template><p>Two.":                             "One.\n\nTwo.",
		"One.<noscript><p>Two.":                             "One.\n\nTwo.",
		"One.<title>Two<p>Three.":                           "One.\n\nThree.",
		"<title><p>One.":                                    "One.",
		"One.<textarea>Two<p>Three.":                        "One. Two\n\nThree.",
		"One.<iframe src=x/><p>Two.":                        "One.\n\nTwo.",
		"One.<object data=x><p>Two.":                        "One.\n\nTwo.",
		"<svg><path><p>One.<svg><g/></svg>":                 "One.",
		"<svg><svg>a</svg>b":                                "b",
		"<frameset><noframes><p>One.</noframes></frameset>": "One.",
		"<p>One<textarea><b></textarea>Two":                 "One <b> Two",
	} {
		require.Equal(t, want, htmltext.Read(source).Text, source)
	}
	require.Equal(t, "One & two", htmltext.ReadXHTML("<p><![CDATA[One & two]]></p>").Text)
	require.Equal(t, "Two", htmltext.Read("One.<title>Two<p>Three.").Title)
}

// In XHTML every element may close itself; in HTML a script goes on.
func TestElementsThatCloseThemselves(t *testing.T) {
	for _, element := range []string{"script", "style", "title", "iframe", "textarea"} {
		source := "<p>One.</p><" + element + " /><p>Two.</p>"
		require.Equal(t, "One.\n\nTwo.", htmltext.ReadXHTML(source).Text, element)
	}
	require.Equal(t, "One.", htmltext.Read("<p>One.</p><script src=x /><p>Two.</p>").Text)
}

func FuzzRead(f *testing.F) {
	f.Add("<p>One &amp; two</p>", false)
	f.Add("<script><svg><pre></p>", true)
	f.Add("<head><title>One<svg><p>Two</svg><template><object></template><textarea>", false)
	f.Add("<h1>One<h2>\x00</h2><pre> a\n </pre><title/>", true)
	f.Add("a&ampb &notit; &semi;&NotEqualTilde; &#x80;&#1;<pre>\r\n&amp;\r<![CDATA[&amp;]]>", true)
	f.Add("<p hidden>a<p style='display:none'>b<table><td>c<li><b><p></b>d</div></p>e", false)
	f.Fuzz(func(t *testing.T, source string, xhtml bool) {
		if !utf8.ValidString(source) {
			t.Skip()
		}
		read := htmltext.Read
		if xhtml {
			read = htmltext.ReadXHTML
		}
		page := read(source)
		if !utf8.ValidString(page.Text) || strings.Contains(page.Text, "\x00") {
			t.Fatalf("not clean UTF-8: %q", page.Text)
		}
		if page.Text != strings.TrimSpace(page.Text) {
			t.Fatalf("white space around: %q", page.Text)
		}
		checkOrigin(t, source, page)
		for _, h := range page.Headings {
			if !strings.HasPrefix(page.Text[h.Offset:], h.Text) {
				t.Fatalf("no %q at %d of %q", h.Text, h.Offset, page.Text)
			}
		}
	})
}
