package natskv

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
)

// mostRead is how many messages one request for several asks for.
const mostRead = 4096

// readBatch asks once for the messages of a subject from a sequence on, and passes
// them on in the stream's order. It returns how many are left after them. Whichever
// replica is first to answer is asked: the latest messages may be missing.
// [nats.ErrNoResponders] means that the servers are electing a leader.
func (c *client) readBatch(ctx context.Context, stream, subject string, from uint64, each func(*nats.Msg) error) (pending uint64, err error) {
	inbox := c.nc.NewInbox()
	// SubscribeSync would make a channel of half a megabyte.
	answers := make(chan *nats.Msg, mostRead+1)
	sub, err := c.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return 0, failed(ctx, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d}`, from, subject, mostRead)
	if err := c.nc.PublishRequest(c.api+"DIRECT.GET."+stream, inbox, request); err != nil {
		return 0, failed(ctx, err)
	}
	for {
		var m *nats.Msg
		select {
		case m = <-answers:
		case <-ctx.Done():
			return 0, failed(ctx, ctx.Err())
		}
		switch status := m.Header.Get(headerStatus); status {
		case "":
			if err := each(m); err != nil {
				return 0, unavailable(err)
			}
		case statusNone:
			return 0, nil
		case statusEnd:
			if pending, err = strconv.ParseUint(m.Header.Get(headerPending), 10, 64); err != nil {
				return 0, unavailable(err)
			}
			return pending, nil
		case statusNoResponders:
			return 0, nats.ErrNoResponders
		default:
			return 0, unavailable(fmt.Errorf("reading %s: status %s %s", stream, status, m.Header.Get(headerDescription)))
		}
	}
}
