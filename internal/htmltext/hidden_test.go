package htmltext_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

// Text that a reader of the page does not see is where instructions to models are
// hidden, and is no text of the page.
func TestTextThatAttributesHideIsLeftOut(t *testing.T) {
	for source, want := range map[string]string{
		"<p>One.</p><p hidden>no</p><p>Two.</p>":                                "One.\n\nTwo.",
		"<p>One <span hidden>no <b>no</b></span>two.":                           "One two.",
		"One.<div hidden><div>no</div>no</div>Two.":                             "One.Two.",
		"One.<my-note hidden>no</my-note>Two.":                                  "One.Two.",
		"<p>One.<p HIDDEN=hidden>no<p>Two.":                                     "One.\n\nTwo.",
		"<p>One.<p hidden>no<div>Two.</div>":                                    "One.\n\nTwo.",
		"<ul><li>One<li hidden>no<ul><li>no</ul><li>Two</ul>":                   "One\nTwo",
		"<dl><dt hidden>no<dd>One<dd hidden>no<dt>Two</dl>":                     "One\nTwo",
		"<table><tr><td>One<td hidden>no<td>Two<tr hidden><td>no<tr><td>Three":  "One Two\nThree",
		"<table><tbody hidden><tr><td>no<tbody><tr><td>One</table>":             "One",
		"<select><option hidden>no<option>One</select>":                         "One",
		"<div>One<p hidden>no</div>Two":                                         "One\nTwo",
		"<p hidden>no</span>no<br>no</p>One":                                    "One",
		"<p hidden><b>no</p>One":                                                "One",
		"One<b hidden>no<div>no</b>no</div>Two":                                 "Oneno\nTwo", // as browsers have it
		"<h1>One</h1><h2 hidden>no</h2><p>Two":                                  "One\n\nTwo",
		"<p hidden>no":                                                          "",
		"<section hidden><p>no<table><td>no</section>no</table>no</section>One": "One",

		"<p style='display:none'>no</p>One":                                                    "One",
		"<p style='color:red; DISPLAY : None !important'>no</p>One":                            "One",
		"<p style='display:none;display:block'>One</p>":                                        "One",
		"<p style='display:none!important;display:block'>no</p>One":                            "One",
		"<p style='display:/* none */block'>One</p>":                                           "One",
		"<p style='dis/**/play:none'>One</p>":                                                  "One", // no property
		`<p style='d\69splay:\6e one'>no</p>One`:                                               "One",
		"<p style='background:url(a;display:none)'>One</p>":                                    "One",
		"<p style='content:\";display:none\"'>One</p>":                                         "One",
		"<p hidden style='display:block'>One</p>":                                              "One",
		"<p style='visibility:hidden'>no</p>One":                                               "One",
		"<p style='visibility:hidden'>no<b style='visibility:visible'>One</b>no</p>":           "One",
		"<p style='display:none'>no<b style='visibility:visible;display:inline'>no</b></p>One": "One",

		"<p hidden=until-found>One</p>":       "One", // a search finds it
		"<p aria-hidden=true>One</p>":         "One", // only not read aloud
		"<body hidden><p>One":                 "One", // a script shows it
		"<body style='visibility:hidden'>One": "One",
		"<br hidden>One<input hidden>Two":     "OneTwo",
		"<template><p>no</template>One":       "One",
		"<noscript>no</noscript>One":          "One",
		"<details><summary>One</summary>Two":  "One\n\nTwo", // anybody can unfold it
		"<p>One<dialog><p>no</dialog>Two":     "One\n\nTwo",
		"<dialog open>One</dialog>Two":        "One\n\nTwo",
		"<dialog style='display:flex'>One":    "One",
		"<datalist><option>no</datalist>One":  "One",
		"<video><p>no</p></video>One":         "One",
	} {
		require.Equal(t, want, htmltext.Read(source).Text, source)
	}
	require.Equal(t, "One\n\nTwo", htmltext.ReadXHTML("<p>One</p><p hidden='hidden'/><p>Two</p>").Text)
	require.Equal(t, "One", htmltext.ReadXHTML("<p hidden=''>no<p>no</p>no</p><p>One</p>").Text)

	page := htmltext.Read("<p>One <b hidden> two &amp; </b></p><h1 hidden>no</h1>")
	require.Equal(t, 6, page.Hidden, "two, & and no")
	require.Empty(t, page.Headings)
}

// Broken nesting ends what is hidden where it ends in a browser: Read shows of random
// tags what the parser shows, whose tree is that of browsers.
func TestHiddenTextEndsWhereItEndsInABrowser(t *testing.T) {
	names := []string{"p", "div", "span", "b", "ul", "li", "table", "tr", "td", "h2", "section", "dl", "dd", "x-y", "pre", "blockquote", "br"}
	rnd := rand.New(rand.NewPCG(5, 6))
	same := 0
	const pages = 2000
	for range pages {
		var b strings.Builder
		b.WriteString("<!DOCTYPE html>")
		for word := range 12 {
			name := names[rnd.IntN(len(names))]
			switch rnd.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "<%s hidden>", name)
			case 1, 2:
				fmt.Fprintf(&b, "<%s>", name)
			case 3, 4:
				fmt.Fprintf(&b, "</%s>", name)
			}
			fmt.Fprintf(&b, " w%d. ", word)
		}
		// Where a table holds text by mistake, browsers move it.
		read, want := strings.Fields(htmltext.Read(b.String()).Text), shown(t, b.String())
		slices.Sort(read)
		slices.Sort(want)
		if slices.Equal(read, want) {
			same++
		}
	}
	t.Logf("%d of %d", same, pages)
	require.Greater(t, same, pages*19/20)
}

// shown are the words of a page that no attribute hides, by the parser's tree.
func shown(t *testing.T, source string) []string {
	root, err := html.Parse(strings.NewReader(source))
	require.NoError(t, err)
	var words []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			if a.Key == "hidden" {
				return
			}
		}
		if n.Type == html.TextNode {
			words = append(words, strings.Fields(n.Data)...)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return words
}
