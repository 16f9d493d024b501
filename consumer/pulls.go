package consumer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// pullPatience is how long after the server should have said that a pull is over the pull
// is given up.
const pullPatience = time.Second

// errSilent: nothing came of a pull, not even that there is nothing.
var errSilent = errors.New("no answer from the server")

// pulls asks consumers for messages. What comes after its pull was given up, because the
// process was stopped or the server slow, does not lie with nobody until its ack wait ends:
// it is put back at once. The client's own Fetch drops it. Safe for concurrent use.
type pulls struct {
	nc   *nats.Conn
	api  string
	late func(*nats.Msg) // is told of what was put back

	catching sync.WaitGroup
	ended    chan struct{}
}

func newPulls(js jetstream.JetStream, late func(*nats.Msg)) *pulls {
	return &pulls{nc: js.Conn(), api: wire.APIPrefix(js), late: late, ended: make(chan struct{})}
}

// end gives up what is late. No pull may be begun after it.
func (p *pulls) end() {
	close(p.ended)
	p.catching.Wait()
}

// pull asks a consumer for up to n messages and passes on each as it comes. The server may
// wait so long for them, not at all with 0. It returns when the server has no more to
// say, with [errSilent] if it has said nothing. ackWait is the consumer's.
func (p *pulls) pull(of *jetstream.ConsumerInfo, n int, wait, ackWait time.Duration, each func(*nats.Msg)) error {
	request, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		NoWait  bool          `json:"no_wait,omitempty"`
		Expires time.Duration `json:"expires,omitempty"`
	}{n, wait == 0, wait})
	if err != nil {
		return err
	}
	answers := make(chan *nats.Msg, n+1) // and the last word
	sub, err := p.nc.ChanSubscribe(p.nc.NewInbox(), answers)
	if err != nil {
		return err
	}
	began := time.Now()
	err = p.nc.PublishRequest(p.api+"CONSUMER.MSG.NEXT."+of.Stream+"."+of.Name, sub.Subject, request)
	got := 0
	if err == nil {
		got, err = take(answers, n, wait+pullPatience, each)
	}
	if !errors.Is(err, errSilent) {
		_ = sub.Unsubscribe() // fails only on a closed connection
		return err
	}
	p.catching.Go(func() { p.catch(sub, answers, time.Until(began.Add(wait+ackWait/2))) })
	if got > 0 {
		return nil
	}
	return errSilent
}

// take passes on messages until there are n, the server says that there are no more, or
// it has been silent for too long.
func take(answers <-chan *nats.Msg, n int, patience time.Duration, each func(*nats.Msg)) (got int, err error) {
	silence := time.NewTimer(patience)
	defer silence.Stop()
	for got < n {
		select {
		case m := <-answers:
			if isStatus(m) {
				return got, statusError(m)
			}
			got++
			each(m)
			silence.Reset(patience)
		case <-silence.C:
			return got, errSilent
		}
	}
	return got, nil
}

// catch puts back what comes late, for as long as nobody else can have it in hand.
func (p *pulls) catch(sub *nats.Subscription, answers <-chan *nats.Msg, mine time.Duration) {
	defer func() { _ = sub.Unsubscribe() }()
	over := time.NewTimer(mine)
	defer over.Stop()
	for {
		select {
		case m := <-answers:
			if isStatus(m) {
				return
			}
			if m.Nak() == nil {
				p.late(m)
			}
		case <-over.C:
			return
		case <-p.ended:
			return
		}
	}
}

func isStatus(m *nats.Msg) bool { return len(m.Data) == 0 && m.Header.Get("Status") != "" }

// statusError is what the server says of a pull in place of a message, nil if only that
// there are no more.
func statusError(m *nats.Msg) error {
	description := m.Header.Get("Description")
	switch m.Header.Get("Status") {
	case "404", "408":
		return nil
	case "503":
		return nats.ErrNoResponders
	case "409":
		if strings.EqualFold(description, "Consumer Deleted") {
			return jetstream.ErrConsumerDeleted
		}
	}
	return fmt.Errorf("nats: %s", description)
}
