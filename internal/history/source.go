package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// source asks the server.
type source struct {
	js    jetstream.JetStream
	names wire.Names
}

// stream is how far a stream has come. The zero value is one that was not asked.
type stream struct {
	known   bool
	created time.Time
	last    uint64
	count   uint64
}

// counts are the streams at one moment.
type counts struct {
	results, dead    stream
	waiting, workers uint64
}

func (s source) count(ctx context.Context) (counts, error) {
	var c counts
	var chunks, workers stream
	for _, ask := range []struct {
		name string
		to   *stream
	}{
		{s.names.ResultStream(), &c.results},
		{s.names.DeadStream(), &c.dead},
		{s.names.ChunkStream(), &chunks},
		{"KV_" + s.names.WorkersBucket(), &workers},
	} {
		var err error
		if *ask.to, err = s.look(ctx, ask.name); err != nil {
			return counts{}, err
		}
	}
	c.waiting, c.workers = chunks.count, workers.count
	return c, nil
}

// look returns the state of a stream; one that does not exist holds nothing.
func (s source) look(ctx context.Context, name string) (stream, error) {
	handle, err := s.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return stream{known: true}, nil
	}
	if err != nil {
		return stream{}, fmt.Errorf("stream %s: %w", name, err)
	}
	info := handle.CachedInfo()
	return stream{true, info.Created, info.State.LastSeq, info.State.Msgs}, nil
}
