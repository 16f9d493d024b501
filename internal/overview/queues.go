package overview

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// mark moves whenever anything is written to a stream, or removed from it.
type mark struct {
	created, first, last, count uint64
}

func markOf(info *jetstream.StreamInfo) mark {
	return mark{uint64(info.Created.UnixNano()), info.State.FirstSeq, info.State.LastSeq, info.State.Msgs}
}

// queue is how many messages a stream holds, in all and of each tenant's token.
type queue struct {
	stream    jetstream.Stream // nil if there is none
	mark      mark
	consumers int
	of        map[string]uint64
	counted   mark      // what of is right for
	again     time.Time // not to be counted anew before
}

const (
	// slowCount is how long counting takes in a fleet of some ten thousand tenants.
	// From there on it takes a fifth of the time at most, and counts are older.
	slowCount = 100 * time.Millisecond
	slowShare = 5
)

// countQueue asks for the counts of a stream whose subjects are "prefix<token>", if
// it is not as it was before. A stream that does not exist is empty.
func (r *Reader) countQueue(ctx context.Context, name, filter string, before queue) (queue, error) {
	stream, err := r.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return queue{}, nil
	}
	if err != nil {
		return queue{}, &ReadError{"stream " + name, err}
	}
	info := stream.CachedInfo()
	q := queue{stream: stream, mark: markOf(info), consumers: info.State.Consumers}
	switch {
	case q.mark.count == 0:
		return q, nil
	case q.mark == before.counted, time.Now().Before(before.again) && q.mark.created == before.counted.created:
		q.of, q.counted, q.again = before.of, before.counted, before.again
		return q, nil
	}
	began := time.Now()
	prefix := strings.TrimSuffix(filter, "*")
	if r.only != "" {
		filter = prefix + r.only
	}
	info, err = stream.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return queue{}, &ReadError{"stream " + name, err}
	}
	q.mark = markOf(info)
	q.counted, q.of = q.mark, make(map[string]uint64, len(info.State.Subjects))
	for subject, n := range info.State.Subjects {
		q.of[strings.TrimPrefix(subject, prefix)] += n
	}
	if took := time.Since(began); took > slowCount {
		q.again = time.Now().Add((slowShare - 1) * took)
	}
	return q, nil
}
