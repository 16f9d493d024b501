package natskv

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// refresh reads what is new in the series of a key.
func (l *hitLog) refresh(ctx context.Context, token string) error {
	l.mu.Lock()
	from := l.of(token).next
	l.mu.Unlock()
	for {
		messages, more, err := l.read(ctx, token, from)
		if err != nil {
			return err
		}
		if len(messages) > 0 {
			l.merge(token, messages)
			from = messages[len(messages)-1].seq + 1
		}
		if !more {
			return nil
		}
	}
}

// hitMessage is one message of a series.
type hitMessage struct {
	seq    uint64
	at     time.Time
	until  int64
	clears bool // it took the place of all hits before it
}

// merge adds what was read, in the order of the stream. Another reader may have
// brought some of it already.
func (l *hitLog) merge(token string, messages []hitMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of(token)
	for _, m := range messages {
		if m.seq < s.next {
			continue
		}
		s.next = m.seq + 1
		switch {
		case m.clears:
			s.hits.Drop(m.seq)
		case !s.ahead[m.seq]:
			s.hits.Add(m.at, m.until, m.seq)
		}
		delete(s.ahead, m.seq)
	}
	for seq := range s.ahead {
		if seq < s.next { // gone from the stream before it was read
			delete(s.ahead, seq)
		}
	}
}

// clear puts a marker in the place of a key's hits.
func (l *hitLog) clear(ctx context.Context, key string) error {
	if !l.known() {
		_, err := l.c.js.Stream(ctx, l.stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil // nobody has ever recorded a hit
		}
		if err != nil {
			return failed(ctx, err)
		}
	}
	token := subjectToken(key)
	m := &nats.Msg{Subject: l.prefix + token, Header: make(nats.Header, 3)}
	isPurge(m.Header)
	seq, err := l.c.publish(ctx, m)
	if err != nil {
		return notLost(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(token).hits.Drop(seq)
	return nil
}

// read returns messages of a series from a sequence on, and whether there are
// more.
func (l *hitLog) read(ctx context.Context, token string, from uint64) (messages []hitMessage, more bool, err error) {
	for {
		messages, more, err = l.readOnce(ctx, token, from)
		if !errors.Is(err, nats.ErrNoResponders) {
			return messages, more, err
		}
		if err := l.c.wait(ctx, pause); err != nil {
			return nil, false, err
		}
	}
}

func (l *hitLog) readOnce(ctx context.Context, token string, from uint64) (messages []hitMessage, more bool, err error) {
	pending, err := l.c.readBatch(ctx, l.stream, l.prefix+token, from, func(answer *nats.Msg) error {
		m, stamp, err := newHitMessage(answer.Header)
		if err != nil {
			return err
		}
		l.c.clock.received(stamp)
		messages = append(messages, m)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return messages, pending > 0, nil
}

func newHitMessage(h nats.Header) (m hitMessage, stamp int64, err error) {
	seq, stamp, err := stamped(h)
	if err != nil {
		return hitMessage{}, 0, err
	}
	m = hitMessage{seq: seq, until: deadlineOf(h, stamp), clears: h.Get(headerOp) == opPurge}
	if !m.clears {
		// A hit without a readable instant is not one of ours and counts as long ago.
		m.at, _ = time.Parse(time.RFC3339Nano, h.Get(headerAt))
	}
	return m, stamp, nil
}
