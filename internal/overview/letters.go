package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// newestLetters is how many dead letters are looked at.
const newestLetters = 1000

// lookAtLetters reads the headers of the newest dead letters, if there is anything
// new. If many were removed, fewer than there are may be found.
func (r *Reader) lookAtLetters(ctx context.Context) error {
	if r.dead.mark == r.lettersOf {
		return nil
	}
	byKind := map[string]*DeadKind{}
	if r.dead.mark.count > 0 {
		if err := r.readLetters(ctx, func(d wire.DeadLetter) {
			k := byKind[d.Kind]
			if k == nil {
				k = &DeadKind{Kind: d.Kind}
				byKind[d.Kind] = k
			}
			k.Count++
			if d.FailedAt.After(k.LastAt) {
				k.LastAt = d.FailedAt
			}
		}); err != nil {
			return &ReadError{"stream " + r.names.DeadStream(), err}
		}
	}
	r.letters = make([]DeadKind, 0, len(byKind))
	for _, k := range byKind {
		r.letters = append(r.letters, *k)
	}
	slices.SortFunc(r.letters, func(a, b DeadKind) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Kind, b.Kind))
	})
	r.lettersOf = r.dead.mark
	return nil
}

// readLetters pulls the headers, so that no right is needed but those of docs/wire.md.
func (r *Reader) readLetters(ctx context.Context, each func(wire.DeadLetter)) error {
	from := max(r.dead.mark.first, 1)
	if r.dead.mark.count > newestLetters {
		from = max(from, r.dead.mark.last-newestLetters+1)
	}
	consumer, err := r.dead.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: r.names.DeadFilter(), HeadersOnly: true, AckPolicy: jetstream.AckNonePolicy,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return err
	}
	name := consumer.CachedInfo().Name
	defer func() { _ = r.dead.stream.DeleteConsumer(context.WithoutCancel(ctx), name) }() // else the server does, soon
	for left := min(consumer.CachedInfo().NumPending, newestLetters); left > 0; {
		batch, err := consumer.Fetch(int(left), jetstream.FetchContext(ctx))
		if err != nil {
			return err
		}
		got := uint64(0)
		for msg := range batch.Messages() {
			got++
			if letter, err := wire.ParseDeadLetter(msg.Headers()); err == nil {
				each(letter)
			}
		}
		if err := batch.Error(); err != nil || got == 0 {
			return err
		}
		left -= min(left, got)
	}
	return nil
}
