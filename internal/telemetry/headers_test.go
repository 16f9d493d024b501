package telemetry

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestATraceGoesThroughHeaders(t *testing.T) {
	for _, name := range []string{"traceparent", "Traceparent"} {
		ctx := Extract(context.Background(), map[string][]string{name: {parent}, "tracestate": {"a=1"}})
		span := trace.SpanContextFromContext(ctx)
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", span.TraceID().String())
		require.True(t, span.IsRemote())
		out := map[string][]string{"Traceparent": {"old"}, "Other": {"stays"}}
		Inject(ctx, out)
		require.Equal(t, map[string][]string{"traceparent": {parent}, "tracestate": {"a=1"}, "Other": {"stays"}}, out)
	}
	out := map[string][]string{"traceparent": {"stays"}}
	Inject(context.Background(), out)
	require.Equal(t, map[string][]string{"traceparent": {"stays"}}, out)
	long := map[string][]string{"traceparent": {parent}, "tracestate": {"a=" + strings.Repeat("x", longestState)}}
	require.Empty(t, trace.SpanContextFromContext(Extract(context.Background(), long)).TraceState().String())
}

// Whatever stands in the headers, what is passed on is a trace or nothing, and short.
func FuzzHeaders(f *testing.F) {
	f.Add(parent, "a=1,b=2")
	f.Add("00-00000000000000000000000000000000-b7ad6b7169203331-01", "")
	f.Add("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "=")
	f.Add("\r\n", "a=\r\n")
	f.Fuzz(func(t *testing.T, parent, state string) {
		header := map[string][]string{"traceparent": {parent}, "tracestate": {state}}
		ctx := Extract(context.Background(), header)
		out := map[string][]string{}
		Inject(ctx, out)
		if len(out) == 0 {
			return
		}
		require.Equal(t, trace.SpanContextFromContext(ctx).TraceID().String(), strings.Split(out["traceparent"][0], "-")[1])
		require.Len(t, out["traceparent"][0], 55)
		for _, values := range out {
			require.LessOrEqual(t, len(values[0]), longestState)
			require.NotContains(t, values[0], "\n")
		}
		again := map[string][]string{}
		Inject(Extract(context.Background(), out), again)
		require.Equal(t, out, again)
	})
}
