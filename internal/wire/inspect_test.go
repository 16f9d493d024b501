package wire_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestInspectNamesWhatIsMissingAndCreatesNothing(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	for range 2 {
		missing, err := wire.Inspect(t.Context(), js, n)
		require.NoError(t, err)
		require.Equal(t, []string{"stream WEIR_CHUNKS", "stream WEIR_DOCUMENTS", "stream WEIR_RESULTS", "stream WEIR_DEAD", "bucket weir_limits", "bucket weir_pause"}, missing)
	}
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	missing, err := wire.Inspect(t.Context(), js, n)
	require.NoError(t, err)
	require.Empty(t, missing)

	require.NoError(t, js.DeleteStream(t.Context(), "WEIR_DEAD"))
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WEIR_DEAD", Subjects: []string{"weir.dead.*"}, Retention: jetstream.WorkQueuePolicy})
	require.NoError(t, err)
	var mismatch *wire.MismatchError
	_, err = wire.Inspect(t.Context(), js, n)
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "retention", mismatch.Field)
}
