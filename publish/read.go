package publish

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxFilters is how many subjects one consumer is asked to filter by.
	maxFilters = 64
	// fetchSize bounds what is on its way at a time.
	fetchSize = 500
	// fetchWait is how long one fetch may be silent. There is always something to
	// come, so silence means that a message was replaced on its way, or that the
	// connection is gone.
	fetchWait = 3 * time.Second
	// readTries is how often in a row a read may fail without having read anything.
	readTries = 3
	// deleteWait bounds the tidying up after a read.
	deleteWait = time.Second
)

// errGap: a message got lost on its way; the read goes on from the last one.
var errGap = errors.New("a message was lost on the way")

// readStream yields what stream holds now on the subjects filters, beginning
// with the sequence from (0 for the beginning), in order, and ends. It may
// yield a little of what is added meanwhile. A broken connection is waited for
// a few times; ctx ends the read at any time.
func readStream(ctx context.Context, js jetstream.JetStream, stream string, filters []string, from uint64) iter.Seq2[jetstream.Msg, error] {
	return func(yield func(jetstream.Msg, error) bool) {
		r := streamReader{js: js, stream: stream, filters: filters, next: from}
		for failures := 0; ; {
			before := r.next
			more, err := r.read(ctx, yield)
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				err = ctx.Err()
			case r.next != before:
				failures = 0
				continue
			default:
				if failures++; failures < readTries {
					continue
				}
			}
			yield(nil, err)
			return
		}
	}
}

// streamReader reads a stream through consumers of its own, one after another.
type streamReader struct {
	js      jetstream.JetStream
	stream  string
	filters []string
	next    uint64 // sequence to go on from
}

// read yields messages until there are no more, yield has had enough, or
// something is wrong; more says that there may be something left to read.
func (r *streamReader) read(ctx context.Context, yield func(jetstream.Msg, error) bool) (more bool, err error) {
	config := jetstream.ConsumerConfig{
		FilterSubjects: r.filters, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	}
	if r.next > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.next
	}
	consumer, err := r.js.CreateConsumer(ctx, r.stream, config)
	if err != nil {
		return true, err
	}
	defer r.remove(ctx, consumer)
	var delivered uint64
	for pending := consumer.CachedInfo().NumPending; pending > 0; {
		fetch, cancel := context.WithTimeout(ctx, fetchWait)
		batch, err := consumer.Fetch(int(min(pending, fetchSize)), jetstream.FetchContext(fetch))
		if err != nil {
			cancel()
			return true, err
		}
		got := 0
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err == nil && meta.Sequence.Consumer != delivered+1 {
				err = errGap
			}
			if err != nil {
				cancel()
				return true, err
			}
			got++
			delivered, pending, r.next = meta.Sequence.Consumer, meta.NumPending, meta.Sequence.Stream+1
			if !yield(msg, nil) {
				cancel()
				return false, nil
			}
		}
		cancel()
		if got > 0 {
			continue
		}
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		info, err := consumer.Info(ctx)
		if err != nil {
			return true, err
		}
		if info.Delivered.Consumer != delivered {
			return true, errGap
		}
		pending = info.NumPending
	}
	return false, nil
}

// remove takes the consumer away; if that fails the server does it by itself.
func (r *streamReader) remove(ctx context.Context, consumer jetstream.Consumer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteWait)
	defer cancel()
	_ = r.js.DeleteConsumer(ctx, r.stream, consumer.CachedInfo().Name)
}

// lastSequence is the sequence of the newest message of stream.
func lastSequence(ctx context.Context, js jetstream.JetStream, stream string) (uint64, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.LastSeq, nil
}
