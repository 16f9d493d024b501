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
	most int             // messages in a pull
	late func(*nats.Msg) // is told of what was put back

	catching sync.WaitGroup
	ended    chan struct{}

	mu   sync.Mutex
	free []mailbox // as many as there were pulls at once
}

// mailbox is where the answers to one pull at a time arrive. One that has had all of them
// serves the next pull, whatever consumer that asks: to subscribe anew for each pull costs
// more than the pull.
type mailbox struct {
	sub     *nats.Subscription
	answers chan *nats.Msg
}

func newPulls(js jetstream.JetStream, most int, late func(*nats.Msg)) *pulls {
	return &pulls{nc: js.Conn(), api: wire.APIPrefix(js), most: most, late: late, ended: make(chan struct{})}
}

// end gives up what is late. No pull may be begun after it.
func (p *pulls) end() {
	close(p.ended)
	p.catching.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, box := range p.free {
		_ = box.sub.Unsubscribe() // fails only on a closed connection
	}
}

// mailbox returns an empty one that nothing is on the way to.
func (p *pulls) mailbox() (mailbox, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 {
		last := len(p.free) - 1
		box := p.free[last]
		p.free = p.free[:last]
		if len(box.answers) == 0 {
			return box, nil
		}
		// A server that has just become a consumer's leader may say so to pulls that
		// were over. The next pull must not take that for its answer.
		_ = box.sub.Unsubscribe() // fails only on a closed connection
	}
	answers := make(chan *nats.Msg, p.most+1) // and the last word
	sub, err := p.nc.ChanSubscribe(p.nc.NewInbox(), answers)
	return mailbox{sub, answers}, err
}

func (p *pulls) giveBack(box mailbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, box)
}

// pull asks a consumer for up to n messages, no more than newPulls was told, and passes on
// each as it comes. The server may wait so long for them, not at all with 0. It returns when
// the server has no more to say, with [errSilent] if it has said nothing. ackWait is the
// consumer's.
func (p *pulls) pull(of *jetstream.ConsumerInfo, n int, wait, ackWait time.Duration, each func(*nats.Msg)) error {
	request, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		NoWait  bool          `json:"no_wait,omitempty"`
		Expires time.Duration `json:"expires,omitempty"`
	}{n, wait == 0, wait})
	if err != nil {
		return err
	}
	box, err := p.mailbox()
	if err != nil {
		return err
	}
	began := time.Now()
	err = p.nc.PublishRequest(p.api+"CONSUMER.MSG.NEXT."+of.Stream+"."+of.Name, box.sub.Subject, request)
	got := 0
	if err == nil {
		got, err = take(box.answers, n, wait+pullPatience, each)
	}
	switch {
	case err == nil: // either n messages, or fewer and the last word
		p.giveBack(box)
		return nil
	case !errors.Is(err, errSilent):
		_ = box.sub.Unsubscribe() // fails only on a closed connection
		return err
	}
	p.catching.Go(func() { p.catch(box, time.Until(began.Add(wait+ackWait/2))) })
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
func (p *pulls) catch(box mailbox, mine time.Duration) {
	defer func() { _ = box.sub.Unsubscribe() }()
	over := time.NewTimer(mine)
	defer over.Stop()
	for {
		select {
		case m := <-box.answers:
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

// isStatus tells the server's words from messages, which anybody may have given such a header:
// these have an address for their acknowledgement.
func isStatus(m *nats.Msg) bool {
	return m.Reply == "" && len(m.Data) == 0 && m.Header.Get("Status") != ""
}

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
