package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

func TestStatusSaysWhatIsNotKnown(t *testing.T) {
	known := publish.Progress{Chunks: 2, Done: 2, Usage: extraction.Usage{PromptTokens: 1_000_000, CompletionTokens: 100_000}}
	some := known
	some.UsageIncomplete = 1
	nothing := publish.Progress{Chunks: 1, Done: 1, UsageIncomplete: 1}
	status := publish.Status{
		Tenant:    "acme",
		Documents: []publish.DocumentStatus{{DocumentID: "known", Progress: known}, {DocumentID: "some", Progress: some}, {DocumentID: "none", Progress: nothing}},
		Total:     publish.Progress{Chunks: 5, Done: 5, UsageIncomplete: 2, Usage: extraction.Usage{PromptTokens: 2_000_000, CompletionTokens: 200_000}},
	}
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, status))
	require.NotContains(t, out.String(), "COST")
	status.AddCost(publish.Prices{In: 0.15, Out: 0.6})
	out.Reset()
	require.NoError(t, printStatus(&out, status))
	require.Equal(t, `DOCUMENT  CHUNKS  DONE  WAITING  DEAD  PROMPT TOKENS  ANSWER TOKENS  COST
known     2       2     0        0     1000000        100000         0.2100
some      2       2     0        0     1000000+       100000+        0.2100+
none      1       1     0        0     ?              ?              ?
total     5       5     0        0     2000000+       200000+        0.4200+

+ more was used: of 2 results the model server did not report all tokens

tenant acme: 0 chunks waiting or in work, 0 documents not split yet
`, out.String())
}

func TestPricesGoTogether(t *testing.T) {
	zero, negative := 0.0, -1.0
	for _, wrong := range []statusCommand{{PriceIn: &zero}, {PriceOut: &zero}, {PriceIn: &zero, PriceOut: &negative}} {
		_, err := wrong.readPrices()
		require.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	}
	prices, err := (&statusCommand{}).readPrices()
	require.NoError(t, err)
	require.Nil(t, prices)
	prices, err = (&statusCommand{PriceIn: &zero, PriceOut: &zero}).readPrices()
	require.NoError(t, err)
	require.Equal(t, publish.Prices{}, *prices)
}

func TestStatusSaysThatNothingIsKnown(t *testing.T) {
	for _, c := range []struct {
		document, run string
		status        publish.Status
		want          string
	}{
		{"contract-7", "", publish.Status{WaitingChunks: 2}, "contract-7: nothing done yet, 2 chunks wait for the tenant"},
		{"contract-7", "", publish.Status{}, "contract-7: nothing is known of this document"},
		{"contract-7", "", publish.Status{WaitingDocuments: 1}, ""},
		{"", "", publish.Status{}, "nothing is known of tenant acme"},
		{"", "second", publish.Status{}, ""},
		{"", "", publish.Status{WaitingChunks: 2}, ""},
		{"", "", publish.Status{Unreadable: map[string]int{"invalid_message": 1}}, ""},
		{"", "", statusOf(1, 0, 0, 0), ""},
	} {
		var out bytes.Buffer
		c.status.Tenant = "acme"
		require.NoError(t, (&statusCommand{Document: c.document, InRun: c.run}).print(&out, c.status, nil))
		require.Contains(t, out.String(), c.want)
		require.Equal(t, c.want != "", strings.Contains(out.String(), "nothing"), out.String())
		require.Contains(t, out.String(), "tenant acme: ")
		require.Equal(t, len(c.status.Documents) > 0, strings.Contains(out.String(), "DOCUMENT"))
	}
}
