package consumer

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// anotherIsFirst makes the bucket just after this worker has found that there is none.
type anotherIsFirst struct {
	jetstream.JetStream
	names wire.Names
	asked int
}

func (j *anotherIsFirst) Publish(ctx context.Context, subject string, payload []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := j.JetStream.Publish(ctx, subject, payload, opts...)
	if j.asked++; j.asked == 1 {
		if _, err := wire.EnsureWorkers(ctx, j.JetStream, j.names); err != nil {
			return nil, err
		}
	}
	return ack, err
}

// Of workers that start together on an empty server one makes the bucket, and the others
// are counted as well.
func TestAWorkerAnnouncesItselfInABucketThatAnotherHasJustMade(t *testing.T) {
	t.Parallel()
	js := natstest.JetStream(t)
	names, err := wire.NewNames("weir")
	require.NoError(t, err)
	late := &anotherIsFirst{JetStream: js, names: names}
	p := &presence{js: late, names: names, rand: func() float64 { return 0.5 }, log: slog.New(slog.DiscardHandler)}
	require.NoError(t, p.say(t.Context(), wire.WorkerState{Worker: "late"}))
	require.Equal(t, 2, late.asked)
	stream, err := js.Stream(t.Context(), "KV_"+names.WorkersBucket())
	require.NoError(t, err)
	require.EqualValues(t, 1, stream.CachedInfo().State.Msgs)
}
