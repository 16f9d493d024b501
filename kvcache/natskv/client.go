package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// client asks the JetStream server for one bucket and the streams beside it, and
// knows its time. Safe for concurrent use.
type client struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	bucket string
	api    string // prefix of JetStream API subjects
	clock  *serverClock

	storage  jetstream.StorageType // of what has to be created, as are replicas
	replicas int
}

func newClient(js jetstream.JetStream, bucket string, o options) *client {
	return &client{
		nc: js.Conn(), js: js, bucket: bucket, api: apiPrefix(js.Options()), clock: newServerClock(o.clock),
		storage: o.storage, replicas: o.replicas,
	}
}

// apiPrefix is where js asks.
func apiPrefix(o jetstream.JetStreamOptions) string {
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}

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
func (c *client) ask(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	for {
		// Nothing is sent without a connection, or it would wait in a buffer
		// and be written long after the caller was told that it failed. Only what is sent
		// in the instant in which a connection breaks may still be, as may what a server
		// has not answered.
		if c.nc.IsConnected() {
			answer, err := c.nc.RequestMsgWithContext(ctx, m)
			if !errors.Is(err, nats.ErrNoResponders) {
				return answer, failed(ctx, err)
			}
		} else if c.nc.IsClosed() {
			return nil, failed(ctx, nats.ErrConnectionClosed)
		}
		if err := c.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// query asks the JetStream API something and decodes the answer. A server that says no
// is unavailable, with the [*jetstream.APIError] in it.
func (c *client) query(ctx context.Context, question string, request []byte, answer any) error {
	m, err := c.ask(ctx, &nats.Msg{Subject: c.api + question, Data: request})
	if err != nil {
		return err
	}
	var refused struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &refused); err != nil {
		return unavailable(err)
	}
	if refused.Error != nil {
		return unavailable(refused.Error)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return unavailable(err)
	}
	return nil
}

// storedMessage is a message as the leader of its stream tells it; the zero value is
// none.
type storedMessage struct {
	Seq    uint64    `json:"seq"`
	Header []byte    `json:"hdrs"`
	Data   []byte    `json:"data"`
	Time   time.Time `json:"time"`
}

// lastMessage asks the leader of a stream, whose word counts, for the last message of a
// subject.
func (c *client) lastMessage(ctx context.Context, stream, subject string) (storedMessage, error) {
	var answer struct {
		Message storedMessage `json:"message"`
	}
	err := c.query(ctx, "STREAM.MSG.GET."+stream, fmt.Appendf(nil, `{"last_by_subj":%q}`, subject), &answer)
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok && refused.ErrorCode == jetstream.JSErrCodeMessageNotFound {
		return storedMessage{}, nil
	}
	return answer.Message, err
}

// timeOf asks the leader of a stream for the time by which it stamps messages.
func (c *client) timeOf(ctx context.Context, stream string) (int64, error) {
	var info struct {
		Time time.Time `json:"ts"`
	}
	if err := c.query(ctx, "STREAM.INFO."+stream, nil, &info); err != nil {
		return 0, err
	}
	return info.Time.UnixNano(), nil
}

// wait sleeps for a random time, most being the longest.
func (c *client) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most/4 + rand.N(most*3/4))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return failed(ctx, ctx.Err())
	}
}

// publish stores a message and returns its sequence, or errLost if the key is
// not as expected.
func (c *client) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := c.ask(ctx, m)
	if err != nil {
		return 0, err
	}
	return acknowledged(answer.Data)
}

// publishAll stores all messages or none and returns the sequence of the last
// one; the others have the sequences before it.
func (c *client) publishAll(ctx context.Context, messages []*nats.Msg) (uint64, error) {
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
					return 0, failed(ctx, err)
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
