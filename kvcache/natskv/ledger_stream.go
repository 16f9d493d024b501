package natskv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// serverLog is what a server does for a logbook: it keeps, for each name, a list
// of entries with ascending sequences and time stamps of its own. Every error
// is a [kvcache.ErrUnavailable] or says what is wrong with the stream.
type serverLog interface {
	// ensure makes the log if need be, and tells when it was made: one that
	// was deleted and made again has no sequence that it had before.
	ensure(ctx context.Context) (born time.Time, created bool, err error)

	// append adds an entry, to be kept for ttl at least, and returns its sequence. After
	// an error it may have been added, or may yet be.
	append(ctx context.Context, name string, body []byte, ttl time.Duration) (uint64, error)

	// read passes on the entries from a sequence on, in order and without a
	// gap. The latest may be missing.
	read(ctx context.Context, name string, from uint64, each func(seq uint64, stamp int64, body []byte)) error

	// last returns the sequence of the latest entry, 0 if there is none.
	last(ctx context.Context, name string) (uint64, error)

	// now returns the time by which entries are stamped.
	now(ctx context.Context) (int64, error)

	// follow passes on entries as they are added, with the sequence of the one
	// before, until stop is called. Some may be lost.
	follow(name string, receive func(seq uint64, stamp int64, predecessor uint64, body []byte)) (stop func(), err error)
}

// natsLog is a [serverLog] on a stream with one subject per name, which sends
// what is added to whoever follows.
type natsLog struct {
	c       *client
	stream  string
	subject string // prefix of the subject of an entry
	feed    string // prefix of the subject that an entry is sent on with
}

func newNatsLog(c *client) *natsLog {
	return &natsLog{
		c:       c,
		stream:  "LEDGER_" + c.bucket,
		subject: "$LEDGER." + c.bucket + ".",
		feed:    "$LEDGERFEED." + c.bucket + ".",
	}
}

func (l *natsLog) ensure(ctx context.Context) (born time.Time, created bool, err error) {
	want := jetstream.StreamConfig{
		Name:        l.stream,
		Description: "sliding windows of " + l.c.bucket + ": what was asked to be taken, in order",
		Subjects:    []string{l.subject + "*"},
		Storage:     l.c.storage,
		Replicas:    l.c.replicas,
		AllowDirect: true,
		AllowMsgTTL: true,
		MaxAge:      2 * kvcache.MaxWindow, // entries have a time to live of their own
		RePublish:   &jetstream.RePublish{Source: l.subject + "*", Destination: l.feed + "{{wildcard(1)}}"},
	}
	have, err := l.c.ensureStream(ctx, want)
	if err != nil {
		return time.Time{}, false, err
	}
	sent := have.RePublish != nil && *have.RePublish == *want.RePublish
	evicts := have.MaxMsgsPerSubject > 0 || have.Discard == jetstream.DiscardOld && (have.MaxMsgs > 0 || have.MaxBytes > 0)
	return have.born, have.created, firstMismatch(have.Name, []requirement{
		{"subjects", len(have.Subjects) == 1 && have.Subjects[0] == want.Subjects[0], have.Subjects, want.Subjects},
		{"retention", have.Retention == jetstream.LimitsPolicy, have.Retention, jetstream.LimitsPolicy},
		{"max_age", have.MaxAge == 0 || have.MaxAge >= want.MaxAge, have.MaxAge, want.MaxAge},
		{"discard", !evicts, have.Discard, "new, because a full log must not forget"},
		{"allow_direct", have.AllowDirect, have.AllowDirect, true},
		{"allow_msg_ttl", have.AllowMsgTTL, have.AllowMsgTTL, true},
		{"republish", sent, have.RePublish, *want.RePublish},
	})
}

func (l *natsLog) append(ctx context.Context, name string, body []byte, ttl time.Duration) (uint64, error) {
	m := &nats.Msg{Subject: l.subject + name, Header: make(nats.Header, 1), Data: body}
	m.Header[headerTTL] = []string{strconv.FormatInt(int64((ttl+time.Second-1)/time.Second), 10)}
	return l.c.publish(ctx, m)
}

// read asks whichever replica is first to answer.
func (l *natsLog) read(ctx context.Context, name string, from uint64, each func(seq uint64, stamp int64, body []byte)) error {
	for {
		pending, last, err := l.readSome(ctx, name, from, each)
		switch {
		case errors.Is(err, nats.ErrNoResponders): // the servers are electing a leader
			err = l.c.wait(ctx, pause)
		case pending == 0:
			return err
		}
		if err != nil {
			return err
		}
		from = max(from, last+1)
	}
}

// readSome is one request of read. pending entries are left after last.
func (l *natsLog) readSome(ctx context.Context, name string, from uint64, each func(seq uint64, stamp int64, body []byte)) (pending, last uint64, err error) {
	pending, err = l.c.readBatch(ctx, l.stream, l.subject+name, from, func(m *nats.Msg) error {
		seq, stamp, predecessor, err := position(m.Header)
		if err != nil {
			return err
		}
		if predecessor != last {
			return fmt.Errorf("reading %s: a message is missing before %d", l.stream, seq)
		}
		each(seq, stamp, m.Data)
		last = seq
		return nil
	})
	return pending, last, err
}

func (l *natsLog) last(ctx context.Context, name string) (uint64, error) {
	m, err := l.c.lastMessage(ctx, l.stream, l.subject+name)
	return m.Seq, err
}

func (l *natsLog) now(ctx context.Context) (int64, error) { return l.c.timeOf(ctx, l.stream) }

func (l *natsLog) follow(name string, receive func(seq uint64, stamp int64, predecessor uint64, body []byte)) (func(), error) {
	sub, err := l.c.nc.Subscribe(l.feed+name, func(m *nats.Msg) {
		seq, stamp, predecessor, err := position(m.Header)
		if err == nil { // else it is not from the server
			receive(seq, stamp, predecessor, m.Data)
		}
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return func() { _ = sub.Unsubscribe() }, nil // fails only where there is nothing to stop
}
