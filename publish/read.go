package publish

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxFilters is how many subjects one consumer is asked to filter by.
const maxFilters = 64

// idleCheck is how long a read that should go on may be silent before it asks
// the server whether there is still anything to come, because a message may be
// replaced while it is on its way.
const idleCheck = 2 * time.Second

// readStream yields what stream holds now on the subjects filters, beginning
// with the sequence from (0 for the beginning), in order, and ends. It may
// yield a little of what is added meanwhile.
func readStream(ctx context.Context, js jetstream.JetStream, stream string, filters []string, from uint64) iter.Seq2[jetstream.Msg, error] {
	return func(yield func(jetstream.Msg, error) bool) {
		config := jetstream.OrderedConsumerConfig{FilterSubjects: filters, InactiveThreshold: time.Minute}
		if from > 0 {
			config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from
		}
		consumer, err := js.OrderedConsumer(ctx, stream, config)
		if err != nil {
			yield(nil, err)
			return
		}
		if info := consumer.CachedInfo(); info != nil && info.NumPending == 0 {
			return
		}
		messages, err := consumer.Messages()
		if err != nil {
			yield(nil, err)
			return
		}
		defer messages.Stop()
		for {
			msg, pending, err := nextMessage(ctx, consumer, messages)
			if err != nil {
				yield(nil, err)
				return
			}
			if msg != nil && !yield(msg, nil) {
				return
			}
			if pending == 0 {
				return
			}
		}
	}
}

// nextMessage returns the next message, or none after a silence, and how many
// are still to come.
func nextMessage(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext) (jetstream.Msg, uint64, error) {
	wait, cancel := context.WithTimeout(ctx, idleCheck)
	defer cancel()
	msg, err := messages.Next(jetstream.NextContext(wait))
	switch {
	case err == nil:
		meta, err := msg.Metadata()
		if err != nil {
			return nil, 0, err
		}
		return msg, meta.NumPending, nil
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		info, err := consumer.Info(ctx)
		if err != nil {
			return nil, 0, err
		}
		return nil, info.NumPending, nil
	default:
		return nil, 0, err
	}
}

// lastSequence is the sequence of the newest message of stream.
func lastSequence(ctx context.Context, js jetstream.JetStream, stream string) (uint64, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.LastSeq, nil
}
