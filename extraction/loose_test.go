package extraction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Models leave out the marks of Markdown, join what a line break has cut, and put
// quotation marks of their own.
func TestQuotesAlignByTheirLetters(t *testing.T) {
	for _, tc := range []struct{ text, quote, want string }{
		{"**Ada Lovelace** met [Charles](https://x.org/b) in *London*.", "Ada Lovelace met Charles in London.", "Ada Lovelace** met [Charles](https://x.org/b) in *London"},
		{"The `worker` reads", "the worker reads", "The `worker` reads"},
		{"| Ada | London |", "Ada London", "Ada | London"},
		{"> Ada met\n> Charles", "Ada met Charles", "Ada met\n> Charles"},
		{"Ada met Babbage in Lon-\ndon.", "Babbage in London", "Babbage in Lon-\ndon"},
		{"北京\n大学签署", "北京大学签署", "北京\n大学签署"},
		{"「こんにちは」と言った", "\"こんにちは\"と言った", "こんにちは」と言った"},
		{"السّلامُ عليكمُ اليوم", "السلام عليكم", "السّلامُ عليكمُ"},
		{"محـــمد قال", "محمد قال", "محـــمد قال"},
		{"Tom &amp; Jerry ran", "Tom & Jerry ran", "Tom &amp; Jerry ran"},
		{"La presidenta de México", "presidenta de Mexico", "presidenta de México"},
		{"It has 1.5 million", "It has 15 million", ""},
		{"It has 1 5 million", "It has 15 million", ""},
		{"Ada Lovelace, who lived here, met Charles Babbage.", "Ada Lovelace ... met Charles", "Ada Lovelace, who lived here, met Charles"},
		{"Ada Lovelace, who lived here, met Charles Babbage.", "Ada Lovelace [...] met Charles Babbage.", "Ada Lovelace, who lived here, met Charles Babbage"},
		{"Ada Lovelace sang." + strings.Repeat(" It rained.", 40) + " Ada Lovelace, who sang, met Charles Babbage.", "Ada Lovelace … met Charles", "Ada Lovelace, who sang, met Charles"},
		{"Ada Lovelace met Charles Babbage.", "met Charles … Ada Lovelace", ""},
		{"Ada Lovelace met Charles Babbage.", "Ada Lovelace … Charles Babb", ""},
		{"Ada Lovelace met Charles Babbage.", "Charles … Ada", ""},
		{"Ada Lovelace sang." + strings.Repeat(" It rained.", 40) + " He met Charles Babbage.", "Ada Lovelace … met Charles", ""},
		{"They asked us.", "U.S.", ""},
		{"a manifold Adam", "manifold. Ada", ""},
		{"It was un-Ada met", "Ada, met", "Ada met"},
		{"Canada met Ada, met", "Ada - met", "Ada, met"},
		{"Canada met", "Ada - met", ""},
	} {
		require.Equal(t, tc.want, quoteIn(tc.text, tc.quote), "%q", tc.quote)
	}
}
