package consumer

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

// A worker reads what the others were started with at once, after each change of their
// number, and else now and then; in a large fleet less often, whatever changes.
func TestHowOftenWorkersReadEachOther(t *testing.T) {
	names, err := wire.NewNames("")
	require.NoError(t, err)
	a := &agreement{bucket: follow.NewBucket(natstest.JetStream(t), names.WorkersBucket()), log: slog.New(slog.DiscardHandler)}
	reviews := func(announcements int, workers func(i int) int64) (n int) {
		for i := range announcements {
			if a.review(t.Context(), workers(i)); a.since == 0 {
				n++
			}
		}
		return n
	}
	same := func(n int64) func(int) int64 { return func(int) int64 { return n } }
	require.Equal(t, 1, reviews(1, same(1000)), "at once, however many there are")
	require.Equal(t, 5, reviews(1000, same(1000)))
	require.Equal(t, 5, reviews(1000, func(i int) int64 { return 1000 + int64(i)%2 }), "as many while they come and go")
	require.Equal(t, 1, reviews(1, same(3)))
	require.Equal(t, 10, reviews(120, same(3)), "once a minute")
	require.Equal(t, 120, reviews(120, func(i int) int64 { return 4 + int64(i)%2 }))
}
