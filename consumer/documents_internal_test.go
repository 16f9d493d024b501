package consumer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// tricklingStream answers each message so much later than the one before. From the message
// silentFrom on it does not answer.
type tricklingStream struct {
	jetstream.JetStream
	pace       time.Duration
	silentFrom int
	published  int
}

func (s *tricklingStream) PublishMsgAsync(*nats.Msg, ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	ack := lateAck{ok: make(chan *jetstream.PubAck, 1)}
	s.published++
	if s.published < s.silentFrom {
		time.AfterFunc(time.Duration(s.published)*s.pace, func() { ack.ok <- &jetstream.PubAck{} })
	}
	return ack, nil
}

type lateAck struct {
	jetstream.PubAckFuture
	ok chan *jetstream.PubAck
}

func (a lateAck) Ok() <-chan *jetstream.PubAck { return a.ok }
func (a lateAck) Err() <-chan error            { return nil }

// The chunks of a document are given up when the stream is silent, not when there are many
// and it is slow: the document would not fare better the next time.
func TestADocumentIsGivenUpForSilenceNotForSlowness(t *testing.T) {
	for name, test := range map[string]struct {
		silentFrom int
		takes      time.Duration
		fails      bool
	}{
		"slow":   {publishWindow + 1, publishWindow * time.Second, false},
		"silent": {10, 9*time.Second + 2*opTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				names, err := wire.NewNames("")
				require.NoError(t, err)
				js := &tricklingStream{pace: time.Second, silentFrom: test.silentFrom}
				w := &Worker{js: js, names: names, observer: unobserved{}}
				messages := make([]*nats.Msg, publishWindow)
				for i := range messages {
					messages[i] = nats.NewMsg("s")
				}
				began := time.Now()
				err = w.publishChunks(t.Context(), names.NewChunkQueue(js, "attempt"), messages)
				require.Equal(t, test.fails, err != nil, err)
				require.Equal(t, test.takes, time.Since(began))
			})
		})
	}
}
