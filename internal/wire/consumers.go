package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// DocumentConsumerConfig is the shape in which the documents' consumer is created.
func (n Names) DocumentConsumerConfig(ackWait time.Duration) jetstream.ConsumerConfig {
	return queueConsumer(n.DocumentConsumer(), n.DocumentFilter(), ackWait)
}

// sharedDescription tells our consumers from those of others.
const sharedDescription = "Weirkeeper: shared by all workers"

func queueConsumer(name, filter string, ackWait time.Duration) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       name,
		Description:   sharedDescription,
		FilterSubject: filter,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       ackWait,
		// A refusal is a delivery but no attempt: deliveries are never counted out.
		MaxDeliver: -1,
		// A message that waits for its next turn stays pending, and must not
		// block the others.
		MaxAckPending: -1,
		// Pulls beyond this are dropped without a word, and it cannot be raised
		// later: room for every worker of a large fleet, twice.
		MaxWaiting: 8192,
	}
}

// EnsureConsumer returns the consumer, and whether it had to be created. An
// existing one stays as it is, its AckWait included; a setting that would lose
// or strand messages is a [*MismatchError].
func EnsureConsumer(ctx context.Context, js jetstream.JetStream, stream string, want jetstream.ConsumerConfig) (c jetstream.Consumer, created bool, err error) {
	object := fmt.Sprintf("consumer %s of stream %s", want.Durable, stream)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	consumer, err := js.Consumer(ctx, stream, want.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		consumer, err = js.CreateConsumer(ctx, stream, want)
		switch {
		case err == nil:
			return consumer, true, nil
		case !errors.Is(err, jetstream.ErrConsumerExists):
			return nil, false, accessError(js, object, "CONSUMER.CREATE."+stream+"."+want.Durable+"."+want.FilterSubject, err)
		}
		// Somebody else was faster, with another AckWait.
		consumer, err = js.Consumer(ctx, stream, want.Durable)
	}
	if err != nil {
		return nil, false, accessError(js, object, "CONSUMER.INFO."+stream+"."+want.Durable, err)
	}
	if err := checkConsumer(object, want, consumer.CachedInfo().Config); err != nil {
		return nil, false, err
	}
	return consumer, false, nil
}

func checkConsumer(object string, want, have jetstream.ConsumerConfig) error {
	mismatch := func(field string, want, have any) error {
		return &MismatchError{object, field, fmt.Sprint(want), fmt.Sprint(have)}
	}
	filters := have.FilterSubjects
	if have.FilterSubject != "" {
		filters = append(filters, have.FilterSubject)
	}
	covered := len(filters) == 0 // no filter is every subject
	for _, f := range filters {
		covered = covered || covers(f, want.FilterSubject)
	}
	switch {
	case !covered:
		return mismatch("filter_subject", want.FilterSubject, filters)
	case have.AckPolicy != want.AckPolicy:
		return mismatch("ack_policy", want.AckPolicy, have.AckPolicy)
	case have.MaxDeliver > 0:
		return mismatch("max_deliver", -1, have.MaxDeliver) // would strand a chunk that waited often
	case len(have.BackOff) > 0:
		return mismatch("backoff", "none", have.BackOff) // adds up wrongly with delays of our own
	case have.DeliverSubject != "":
		return mismatch("deliver_subject", "none (a pull consumer)", have.DeliverSubject)
	case have.HeadersOnly:
		return mismatch("headers_only", false, true)
	}
	return nil
}
