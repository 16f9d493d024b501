package natskv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	headerTTL          = "Nats-TTL"
	headerSequence     = "Nats-Sequence"
	headerPredecessor  = "Nats-Last-Sequence"
	headerStamp        = "Nats-Time-Stamp"
	headerPending      = "Nats-Num-Pending"
	headerStatus       = "Status"
	statusEnd          = "204"
	statusNone         = "404"
	statusNoResponders = "503"

	readBatch = 4096
)

// readLog passes on the messages of a subject from a sequence on, in order and
// without a gap. Whichever replica is first to answer is asked: the latest
// messages may be missing.
func (c *Cache) readLog(ctx context.Context, stream, subject string, from uint64, each func(seq uint64, stamp int64, body []byte)) error {
	for {
		pending, last, err := c.readSome(ctx, stream, subject, from, each)
		switch {
		case errors.Is(err, nats.ErrNoResponders): // the servers are electing a leader
			err = c.wait(ctx, pause)
		case pending == 0:
			return err
		}
		if err != nil {
			return err
		}
		from = max(from, last+1)
	}
}

// readSome is one request of readLog. pending messages are left after last.
func (c *Cache) readSome(ctx context.Context, stream, subject string, from uint64, each func(seq uint64, stamp int64, body []byte)) (pending, last uint64, err error) {
	reply := c.nc.NewInbox()
	sub, err := c.nc.SubscribeSync(reply)
	if err != nil {
		return 0, 0, c.failed(ctx, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return 0, 0, c.failed(ctx, err)
	}
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d}`, from, subject, readBatch)
	if err := c.nc.PublishRequest(c.api+"DIRECT.GET."+stream, reply, request); err != nil {
		return 0, 0, c.failed(ctx, err)
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return 0, 0, c.failed(ctx, err)
		}
		switch status := m.Header.Get(headerStatus); status {
		case "":
		case statusNone:
			return 0, last, nil
		case statusEnd:
			if pending, err = strconv.ParseUint(m.Header.Get(headerPending), 10, 64); err != nil {
				return 0, 0, unavailable(err)
			}
			return pending, last, nil
		case statusNoResponders:
			return 0, 0, nats.ErrNoResponders
		default:
			return 0, 0, unavailable(fmt.Errorf("reading %s: status %s", stream, status))
		}
		seq, stamp, predecessor, err := position(m.Header)
		if err != nil {
			return 0, 0, unavailable(err)
		}
		if predecessor != last {
			return 0, 0, unavailable(fmt.Errorf("reading %s: a message is missing before %d", stream, seq))
		}
		each(seq, stamp, m.Data)
		last = seq
	}
}

// position reads where in a stream a message stands, and which of the same
// subject, or of the same answer, was before it.
func position(h nats.Header) (seq uint64, stamp int64, predecessor uint64, err error) {
	if seq, err = strconv.ParseUint(h.Get(headerSequence), 10, 64); err != nil {
		return 0, 0, 0, err
	}
	at, err := time.Parse(time.RFC3339Nano, h.Get(headerStamp))
	if err != nil {
		return 0, 0, 0, err
	}
	predecessor, err = strconv.ParseUint(h.Get(headerPredecessor), 10, 64)
	return seq, at.UnixNano(), predecessor, err
}
