package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// read returns the last message of a key, at least as late as anything this
// process knows of. A key without a message is the empty cell.
func (c *Cache) read(ctx context.Context, name string) (cell, error) {
	known, ok := c.seen.last(name)
	if c.direct.Load() {
		got, err := c.readReplica(ctx, name)
		if err != nil {
			return cell{}, err
		}
		if !ok || got.seq >= known.seq {
			if got.seq > 0 {
				c.seen.note(name, sighting{seq: got.seq, deadline: got.deadline, complete: true})
			}
			return got, nil
		}
	}
	got, err := c.readLeader(ctx, name)
	if err == nil {
		c.seen.correct(name, known, sighting{seq: got.seq, deadline: got.deadline, complete: true})
	}
	return got, err
}

// readReplica asks whichever server is first to answer. It may lag behind.
func (c *Cache) readReplica(ctx context.Context, name string) (cell, error) {
	answer, err := c.ask(ctx, &nats.Msg{Subject: c.api + "DIRECT.GET.KV_" + c.bucket + "." + c.stored + name})
	if err != nil {
		return cell{}, err
	}
	switch status := answer.Header.Get(headerStatus); status {
	case "":
	case statusNone:
		return cell{}, nil
	default:
		return cell{}, unavailable(fmt.Errorf("reading KV_%s: status %s %s", c.bucket, status, answer.Header.Get(headerDescription)))
	}
	seq, stamp, err := stamped(answer.Header)
	if err != nil {
		return cell{}, unavailable(err)
	}
	c.clock.received(stamp)
	return newCell(answer.Header, answer.Data, seq, stamp), nil
}

// readLeader asks the server whose word counts.
func (c *Cache) readLeader(ctx context.Context, name string) (cell, error) {
	m, err := c.lastMessage(ctx, "KV_"+c.bucket, c.stored+name)
	if err != nil || m.Seq == 0 {
		return cell{}, err
	}
	var header nats.Header
	if len(m.Header) > 0 {
		if header, err = nats.DecodeHeadersMsg(m.Header); err != nil {
			return cell{}, unavailable(err)
		}
	}
	c.clock.received(m.Time.UnixNano())
	return newCell(header, m.Data, m.Seq, m.Time.UnixNano()), nil
}

// look is read with the question answered whether there is a value now. Only
// what has a deadline needs the server's time.
func (c *Cache) look(ctx context.Context, name string) (got cell, now int64, err error) {
	if got, err = c.read(ctx, name); err == nil && got.present && got.deadline != endless {
		now, err = c.serverNow(ctx)
	}
	return got, now, err
}
