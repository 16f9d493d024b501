package consumer

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// opTimeout bounds one request to NATS.
const opTimeout = 5 * time.Second

// ackWaitOf is after what silence the server gives a message of a consumer to somebody
// else.
func ackWaitOf(c *jetstream.ConsumerInfo) time.Duration {
	if c.Config.AckWait > 0 {
		return c.Config.AckWait
	}
	return 30 * time.Second // the server's default
}

// delivery is one message in hand.
type delivery struct {
	msg  *nats.Msg
	meta *nats.MsgMetadata

	// Of chunks only.
	lane  *lane
	turn  uint64 // of the lane
	older bool   // than the lane, and others of the tenant have failed in the lane before it
}

func newDelivery(msg *nats.Msg) (delivery, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return delivery{}, fmt.Errorf("message without metadata: %w", err)
	}
	return delivery{msg: msg, meta: meta}, nil
}

// id names the message, also after its stream was deleted and made anew. A
// message that is published again has another id, and so fresh counts.
func (d delivery) id() string {
	return d.meta.Stream + "/" + strconv.FormatUint(d.meta.Sequence.Stream, 10) + "/" + strconv.FormatInt(d.meta.Timestamp.UnixNano(), 36)
}

func (d delivery) number() int { return int(min(d.meta.NumDelivered, 1<<31-1)) }

// again reports whether somebody may have had this message in hand before. A
// lane that was made anew counts from 1.
func (d delivery) again() bool { return d.meta.NumDelivered > 1 || d.older }

// ack gives the message up, and waits for the server to say that it has.
func (d delivery) ack() error {
	var err error
	for range 2 {
		err = d.msg.AckSync(nats.AckWait(opTimeout))
		if err == nil || errors.Is(err, nats.ErrMsgAlreadyAckd) {
			return nil
		}
	}
	return &storeError{"acknowledge", err}
}

// nak puts the message back, to be delivered after the delay or at once.
func (d delivery) nak(delay time.Duration) error {
	if delay <= 0 {
		return d.msg.Nak()
	}
	return d.msg.NakWithDelay(delay)
}
