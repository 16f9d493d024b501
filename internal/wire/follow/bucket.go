package follow

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// lookEvery is how soon a change is followed. Looking costs one small
	// request; a watcher would be quicker, and blind for many seconds after
	// some reconnects without anybody noticing.
	lookEvery = time.Second
	// rereadEvery finds entries that the server has removed without a trace.
	rereadEvery = time.Minute

	timeout     = 5 * time.Second
	readTimeout = 30 * time.Second // of all entries
	readBatch   = 1000             // messages per pull
)

// Bucket is one bucket, as it was read last. It is not for concurrent use.
type Bucket struct {
	js     jetstream.JetStream
	name   string
	seen   mark
	readAt time.Time
}

// NewBucket returns a bucket of which nothing is known before the first
// [Bucket.Look]. It need not exist.
func NewBucket(js jetstream.JetStream, name string) *Bucket { return &Bucket{js: js, name: name} }

// mark moves whenever anything is written to the bucket.
type mark struct {
	created time.Time
	last    uint64
	count   uint64
}

// Reading is what one look at a bucket came to.
type Reading struct {
	// Fresh says that the bucket was read, because it has changed or is gone. Else
	// it holds what it held at the look before.
	Fresh bool
	// Entries of a fresh reading; a bucket that does not exist has none.
	Entries []Entry
	// Now is the time by the server's clock, or by this machine's if the server
	// did not say, as of a bucket that is missing.
	Now time.Time
}

// Look reads the bucket if it has changed. After an error it is read again by the
// next look that succeeds.
func (b *Bucket) Look(ctx context.Context) (Reading, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stream, err := b.js.Stream(asking, "KV_"+b.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		b.seen = mark{}
		return Reading{Fresh: true, Now: time.Now()}, nil
	}
	if err != nil {
		return Reading{}, err
	}
	info := stream.CachedInfo()
	reading := Reading{Now: info.TimeStamp}
	if reading.Now.IsZero() {
		reading.Now = time.Now()
	}
	now := mark{info.Created, info.State.LastSeq, info.State.Msgs}
	if now == b.seen && time.Since(b.readAt) < rereadEvery {
		return reading, nil
	}
	if reading.Entries, err = b.read(ctx, stream); err != nil {
		return Reading{}, err
	}
	reading.Fresh, b.seen, b.readAt = true, now, time.Now()
	return reading, nil
}

// Entry is one key of a bucket.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Created  time.Time // stored, by the server's clock
	Header   nats.Header
}

// read takes all entries of the bucket. It pulls them: a push consumer, which the
// client's own ways to list a bucket use, stops in the middle of a large one unless
// the worker may publish to $JS.FC.>, which it needs for nothing else.
func (b *Bucket) read(ctx context.Context, stream jetstream.Stream) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	prefix := "$KV." + b.name + "."
	all, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: prefix + ">", DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: readTimeout,
	})
	if err != nil {
		return nil, err
	}
	name := all.CachedInfo().Name
	defer func() { _ = stream.DeleteConsumer(context.WithoutCancel(ctx), name) }() // else the server does, soon
	var entries []Entry
	for left := all.CachedInfo().NumPending; left > 0; {
		batch, err := all.Fetch(int(min(left, readBatch)), jetstream.FetchContext(ctx))
		if err != nil {
			return nil, err
		}
		got := false
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err != nil {
				return nil, err
			}
			got, left = true, meta.NumPending
			if h := msg.Headers(); h.Get("KV-Operation") == "" && h.Get("Nats-Marker-Reason") == "" {
				entries = append(entries, Entry{strings.TrimPrefix(msg.Subject(), prefix), msg.Data(), meta.Sequence.Stream, meta.Timestamp, h})
			}
		}
		if err := batch.Error(); err != nil {
			return nil, err
		}
		if !got {
			return nil, errors.New("the bucket went away while it was read")
		}
	}
	return entries, nil
}

// Run calls look every second until ctx ends, and changed after each look that
// brought news. That looking fails is logged once until it works again, with what
// it is that cannot be read.
func Run(ctx context.Context, look func(context.Context) (news bool, err error), changed func(), logger *slog.Logger, what string) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	complained := false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		news, err := look(ctx)
		if err != nil && ctx.Err() == nil && !complained {
			logger.Warn("cannot read "+what+", keeping to what is known", "error", err.Error())
		}
		complained = err != nil
		if news {
			changed()
		}
	}
}
