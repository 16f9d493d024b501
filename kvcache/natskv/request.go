package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Answers of the server that mean that nothing was written.
const (
	codeWrongSequence   jetstream.ErrorCode = 10071 // the key has changed
	codeSequencePending jetstream.ErrorCode = 10164 // or is about to
	codeBatchIncomplete jetstream.ErrorCode = 10176 // a part of the batch was lost or refused
	codeBatchInflight   jetstream.ErrorCode = 10211 // there are too many batches at once
)

// pause is the longest wait before the server is asked again, in which it may
// elect a leader or somebody else may finish.
const pause = 25 * time.Millisecond

// ask sends a request and waits for the answer. It asks again as long as
// nobody is there to receive the request.
func (c *Cache) ask(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	for {
		// Nothing is sent without a connection, or it would wait in a buffer
		// and be written long after the caller was told that it failed.
		if c.nc.IsConnected() {
			answer, err := c.nc.RequestMsgWithContext(ctx, m)
			if !errors.Is(err, nats.ErrNoResponders) {
				return answer, c.failed(ctx, err)
			}
		} else if c.nc.IsClosed() {
			return nil, c.failed(ctx, nats.ErrConnectionClosed)
		}
		if err := c.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// wait sleeps for a random time, most being the longest.
func (c *Cache) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most/4 + rand.N(most*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return c.failed(ctx, ctx.Err())
	}
}

// failed says what the error of a request means to the caller.
func (c *Cache) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("natskv: the value is too large: %w", err)
	case ctx.Err() != nil:
		return ended(ctx)
	}
	return unavailable(err)
}

// ended says what the end of an operation's context means to the caller: that the
// store took too long, by our own limit or by the caller's context. The latter's error
// says so whatever cause it was given: nobody would know that cause for an end of it.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errNoAnswer) {
		return unavailable(cause)
	}
	return unavailable(ctx.Err())
}

// publish stores a message and returns its sequence, or errLost if the key is
// not as expected.
func (c *Cache) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := c.ask(ctx, m)
	if err != nil {
		return 0, err
	}
	return acknowledged(answer.Data)
}

// publishAll stores all messages or none and returns the sequence of the last
// one; the others have the sequences before it.
func (c *Cache) publishAll(ctx context.Context, messages []*nats.Msg) (uint64, error) {
	for {
		id := nuid.Next()
		for i, m := range messages {
			m.Header["Nats-Batch-Id"] = []string{id}
			m.Header["Nats-Batch-Sequence"] = []string{strconv.Itoa(i + 1)}
		}
		last := len(messages) - 1
		messages[last].Header["Nats-Batch-Commit"] = []string{"1"}
		if c.nc.IsConnected() {
			for _, m := range messages[:last] {
				if err := c.nc.PublishMsg(m); err != nil {
					return 0, c.failed(ctx, err)
				}
			}
		}
		seq, err := c.publish(ctx, messages[last])
		if !retryable(err) {
			return seq, err
		}
		if err := c.wait(ctx, pause); err != nil {
			return 0, err
		}
	}
}

// retryable reports whether a request was refused for the moment.
func retryable(err error) bool {
	refused := new(jetstream.APIError)
	return errors.As(err, &refused) && (refused.ErrorCode == codeBatchIncomplete || refused.ErrorCode == codeBatchInflight)
}

// acknowledged reads the answer to a publish.
func acknowledged(answer []byte) (uint64, error) {
	var ack struct {
		Seq   uint64              `json:"seq"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer, &ack); err != nil {
		return 0, unavailable(err)
	}
	if ack.Error == nil {
		return ack.Seq, nil
	}
	switch ack.Error.ErrorCode {
	case codeWrongSequence, codeSequencePending:
		return 0, errLost
	}
	return 0, unavailable(ack.Error)
}

// askTime learns the server's time.
func (c *Cache) askTime(ctx context.Context) error {
	before := c.clock.elapsed()
	answer, err := c.ask(ctx, &nats.Msg{Subject: c.api + "STREAM.INFO.KV_" + c.bucket})
	if err != nil {
		return err
	}
	var info struct {
		Time  time.Time           `json:"ts"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &info); err != nil {
		return unavailable(err)
	}
	if info.Error != nil {
		return unavailable(info.Error)
	}
	c.clock.sent(info.Time.UnixNano(), before)
	return nil
}

// serverNow is the server's time, as far as it is known.
func (c *Cache) serverNow(ctx context.Context) (int64, error) {
	if !c.clock.fresh(time.Minute) {
		if err := c.askTime(ctx); err != nil {
			return 0, err
		}
	}
	return c.clock.now(), nil
}

var _ kvcache.Cache = (*Cache)(nil)
var _ kvcache.Versioned = (*Cache)(nil)
