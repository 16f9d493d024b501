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
	pending, err = c.readBatch(ctx, stream, subject, from, func(m *nats.Msg) error {
		seq, stamp, predecessor, err := position(m.Header)
		if err != nil {
			return err
		}
		if predecessor != last {
			return fmt.Errorf("reading %s: a message is missing before %d", stream, seq)
		}
		each(seq, stamp, m.Data)
		last = seq
		return nil
	})
	return pending, last, err
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
