package consumer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// A worker that nobody watches pays nothing for being watchable.
func TestNobodyWatchingAllocatesNothing(t *testing.T) {
	cfg, err := Config{}.withDefaults()
	require.NoError(t, err)
	o, ctx, header := cfg.Observer, context.Background(), map[string][]string{"a": {"b"}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		in := o.Took(ctx, Message{Queue: "chunks", Tenant: "acme", Header: header})
		o.Reads(in, extraction.Chunk{DocumentID: "d"})
		for _, s := range []Step{StepFind, StepStore, StepAck} {
			inner, ended := o.Step(in, s)
			o.Sends(inner, header)
			ended(nil)
		}
		o.Settled(in, Settlement{Outcome: "extracted", Done: true})
	}))
}
