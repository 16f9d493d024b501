package main

import (
	"bytes"
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
