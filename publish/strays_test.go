package publish_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish"
)

// What somebody else puts among the results of a tenant hides none of them, however
// they are read.
func TestWhatIsNoResultIsLeftOut(t *testing.T) {
	f := newFleet(t)
	r := f.reader()
	watch := r.Watch(publish.StatusFilter{})
	_, err := watch.Look(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.Strays())

	p := f.publisher(f.plan("d", file(t, "a.txt", "Ada met Charles.")))
	require.NoError(t, p.Send(t.Context()))
	var first uint64
	for i, garbage := range []string{"hello", `{"schema_version":"1"}`, `{"schema_version":99,"chunk_id":"x"}`, ""} {
		ack, err := f.js.Publish(t.Context(), f.names.ResultSubject("acme co.", "d", 7+i), []byte(garbage))
		require.NoError(t, err)
		if i == 0 {
			first = ack.Sequence
		}
	}
	for _, msg := range f.take(10) {
		f.finish(msg, extraction.Extraction{})
	}
	dead, err := p.Follow(t.Context(), time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, dead)

	status, err := r.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, status.Total.Done)
	watched, err := watch.Look(t.Context())
	require.NoError(t, err)
	require.Equal(t, status, watched)
	parts, err := r.Parts(t.Context(), "d")
	require.NoError(t, err)
	require.Len(t, parts, 1)
	_, err = r.Compare(t.Context(), "", "other")
	require.NoError(t, err)
	require.NoError(t, f.publisher(f.plan("d", file(t, "a.txt", "Ada met Mary."))).Send(t.Context()))

	found := r.Strays()
	require.Equal(t, 4, found.Count, "each once, however often it was read")
	require.Equal(t, first, found.Sequence)
	require.Equal(t, f.names.ResultSubject("acme co.", "d", 7), found.Subject)
	require.Contains(t, found.Reason, "not a result")
}
