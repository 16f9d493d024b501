package natskv

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

const (
	// watchHeartbeat is how often the server shows that it is still there; a
	// watch that hears nothing twice in a row begins anew.
	watchHeartbeat = 5 * time.Second

	// watchMemory is how long the server keeps the consumer of a process that
	// has gone away without a word.
	watchMemory = time.Minute

	// longestRest limits the wait before a watch that broke off begins anew.
	longestRest = time.Second
)

// watch is one call of [Cache.Watch].
type watch struct {
	c       *Cache
	changed func(kvcache.Entry)
	keys    []*watched
	named   map[string]*watched // by the name in the bucket
}

// watched is one key: its last message, and what was told of it.
type watched struct {
	key, name string
	cell      cell
	told      kvcache.Entry
	begun     bool // something was told
}

// Watch implements [kvcache.Watcher] with a consumer of the bucket. Whatever may
// have cost a message (an outage, another leader, a gap in the numbers, a
// bucket made anew) makes it begin anew by reading all keys, for as long as ctx
// lasts; only the first time a failure is returned.
func (c *Cache) Watch(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
	w := &watch{c: c, changed: changed, named: make(map[string]*watched)}
	for _, key := range keys {
		if name := keyName(key); w.named[name] == nil {
			k := &watched{key: key, name: name}
			w.keys, w.named[name] = append(w.keys, k), k
		}
	}
	rest := pause
	for before := false; ; {
		began, err := w.follow(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c.closed.Load():
			return kvcache.ErrClosed
		case c.nc.IsClosed():
			return unavailable(nats.ErrConnectionClosed)
		case !began && !before:
			return err
		case began:
			before, rest = true, pause
		}
		if c.wait(ctx, rest) != nil {
			return ctx.Err()
		}
		rest = min(2*rest, longestRest)
	}
}

// follow reads all keys and tells what happens to them, until something goes
// wrong. began says that all were read.
func (w *watch) follow(ctx context.Context) (began bool, err error) {
	if len(w.keys) == 0 {
		return true, w.idle(ctx)
	}
	broken := w.c.nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer w.c.nc.RemoveStatusListener(broken)
	consumer, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	// Asked for without waiting: if that is lost, the server will find out.
	defer func() {
		_ = w.c.nc.Publish(w.c.api+"CONSUMER.DELETE.KV_"+w.c.bucket+"."+consumer.CachedInfo().Name, nil)
	}()
	messages, failed, stopped := make(chan jetstream.Msg), make(chan error, 1), make(chan struct{})
	defer close(stopped)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case messages <- m:
		case <-stopped:
		}
	}, jetstream.PullHeartbeat(watchHeartbeat), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		select {
		case failed <- err:
		default:
		}
	}))
	if err != nil {
		return true, unavailable(err)
	}
	defer consuming.Stop()

	expiry := time.NewTimer(time.Duration(endless))
	defer expiry.Stop()
	for number := uint64(0); ; {
		wait, err := w.tell(ctx)
		if err != nil {
			return true, err
		}
		expiry.Reset(wait)
		select {
		case m := <-messages:
			number++
			if err := w.take(m, number); err != nil {
				return true, err
			}
		case <-expiry.C:
		case err := <-failed:
			return true, unavailable(err)
		case <-broken:
			return true, unavailable(nats.ErrDisconnected)
		case <-w.c.ended:
			return true, kvcache.ErrClosed
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}

// idle is the watch of no keys.
func (w *watch) idle(ctx context.Context) error {
	select {
	case <-w.c.ended:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// begin makes a consumer of everything that is new, and then reads all keys, so
// that nothing can happen in between.
func (w *watch) begin(ctx context.Context) (jetstream.Consumer, error) {
	ctx, done, err := w.c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	for !w.c.nc.IsConnected() && !w.c.nc.IsClosed() {
		if err := w.c.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
	config := jetstream.ConsumerConfig{
		Description:       "somebody watches",
		DeliverPolicy:     jetstream.DeliverNewPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: watchMemory,
		MemoryStorage:     true,
		Replicas:          1,
	}
	for _, k := range w.keys {
		config.FilterSubjects = append(config.FilterSubjects, w.c.stored+k.name)
	}
	consumer, err := w.c.js.CreateConsumer(ctx, "KV_"+w.c.bucket, config)
	if err != nil {
		return nil, fmt.Errorf("natskv: watch bucket %s: %w", w.c.bucket, failed(ctx, err))
	}
	for _, k := range w.keys {
		if k.cell, err = w.c.read(ctx, k.name); err != nil {
			return nil, err
		}
	}
	return consumer, nil
}

// take notes a message, which has to be the number-th of its consumer.
func (w *watch) take(m jetstream.Msg, number uint64) error {
	about, err := m.Metadata()
	if err != nil {
		return unavailable(err)
	}
	k := w.named[strings.TrimPrefix(m.Subject(), w.c.stored)]
	if about.Sequence.Consumer != number || k == nil {
		return errGap
	}
	stamp := about.Timestamp.UnixNano()
	w.c.clock.received(stamp)
	if about.Sequence.Stream <= k.cell.seq {
		return nil // it was read already
	}
	k.cell = newCell(m.Headers(), m.Data(), about.Sequence.Stream, stamp)
	w.c.seen.note(k.name, sighting{seq: k.cell.seq, deadline: k.cell.deadline, complete: true})
	return nil
}

// tell passes on what has not been told yet, and returns how long no key will
// expire.
func (w *watch) tell(ctx context.Context) (time.Duration, error) {
	now, err := w.now(ctx)
	if err != nil {
		return 0, err
	}
	wait := time.Duration(endless)
	for _, k := range w.keys {
		e := kvcache.Entry{Key: k.key, Present: k.cell.alive(now), Version: versionOf(k.cell, now)}
		if e.Present {
			e.Value = k.cell.value
			if k.cell.deadline != endless {
				wait = min(wait, max(time.Duration(k.cell.deadline-now), time.Millisecond))
			}
		}
		if k.begun && (e == k.told || !e.Present && !k.told.Present) {
			continue
		}
		if ctx.Err() != nil { // changed may have ended it
			return 0, ctx.Err()
		}
		k.told, k.begun = e, true
		w.changed(e)
	}
	return wait, nil
}

// now is the server's time, if that matters to any key.
func (w *watch) now(ctx context.Context) (int64, error) {
	for _, k := range w.keys {
		if k.cell.present && k.cell.deadline != endless {
			ctx, done, err := w.c.begin(ctx)
			if err != nil {
				return 0, err
			}
			defer done()
			return w.c.serverNow(ctx)
		}
	}
	return 0, nil
}
