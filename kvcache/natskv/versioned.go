package natskv

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// A version is twice the sequence of the key's last message, and one more once
// that has expired, so that expiry shows before the server has collected it.

func versionOf(got cell, now int64) uint64 {
	version := got.seq << 1
	if got.present && !got.alive(now) {
		version++
	}
	return version
}

// mostChanges is how many messages a server takes in one batch.
const mostChanges = 1000

// Load implements [kvcache.Versioned]: one round trip, for several keys at once.
func (c *Cache) Load(ctx context.Context, entries []kvcache.Entry) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(entries) == 1 {
		return c.load(ctx, &entries[0])
	}
	var wg sync.WaitGroup
	problems := make([]error, len(entries))
	for i := range entries {
		wg.Go(func() { problems[i] = c.load(ctx, &entries[i]) })
	}
	wg.Wait()
	for _, err := range problems {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cache) load(ctx context.Context, e *kvcache.Entry) error {
	got, now, err := c.look(ctx, keyName(e.Key))
	if err != nil {
		return err
	}
	e.Version, e.Present, e.Value = versionOf(got, now), got.alive(now), ""
	if e.Present {
		e.Value = got.value
	}
	return nil
}

// Swap implements [kvcache.Versioned]. One key costs one round trip; several
// are one atomic batch.
func (c *Cache) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	if err := kvcache.CheckChanges(changes); err != nil {
		return false, err
	}
	if len(changes) > mostChanges {
		return false, fmt.Errorf("natskv: %d changes in one swap, the most is %d", len(changes), mostChanges)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil || len(changes) == 0 {
		return err == nil, err
	}
	defer done()
	messages := make([]*nats.Msg, len(changes))
	results := make([]sighting, len(changes)) // all but the sequence
	for i, change := range changes {
		messages[i], results[i], err = c.prepare(ctx, change)
		if err != nil {
			return false, swapped(err)
		}
	}
	var last uint64
	if len(messages) == 1 {
		last, err = c.publish(ctx, messages[0])
	} else {
		last, err = c.publishAll(ctx, messages)
	}
	if errors.Is(err, errLost) {
		for _, change := range changes { // one of them; the leader will tell
			c.seen.doubt(keyName(change.Key), change.Version>>1)
		}
	}
	if err != nil {
		return false, swapped(err)
	}
	for i := range changes {
		seq := last - uint64(len(changes)-1-i)
		results[i].seq = seq
		c.seen.note(keyName(changes[i].Key), results[i])
		changes[i].Version = seq << 1
	}
	return true, nil
}

// swapped turns a lost race into an answer.
func swapped(err error) error {
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}

// prepare returns the message of a change, and what will be known of the key
// afterwards. It returns errLost for a version that has expired.
func (c *Cache) prepare(ctx context.Context, change kvcache.Change) (*nats.Msg, sighting, error) {
	name := keyName(change.Key)
	deadline, now, err := c.keptDeadline(ctx, name, change.Version)
	if err != nil {
		return nil, sighting{}, err
	}
	m := c.message(name, change.Value)
	expect(m.Header, change.Version>>1)
	after := sighting{deadline: endless, complete: true}
	switch {
	case change.Delete:
		m.Data = nil
		isPurge(m.Header)
	case change.TTL == kvcache.KeepTTL:
		expires(m.Header, deadline, now)
		after.deadline = deadline
	default:
		lives(m.Header, change.TTL)
		after.complete = change.TTL == 0
	}
	c.alone(m.Header)
	return m, after, nil
}

// keptDeadline returns the deadline of the value with a version, and the
// server's time if there is one. It returns errLost if the key is known to have
// changed since, or the deadline has passed.
func (c *Cache) keptDeadline(ctx context.Context, name string, version uint64) (deadline, now int64, err error) {
	seq, expired := version>>1, version&1 == 1
	if seq == 0 || expired {
		return endless, 0, nil
	}
	known, ok := c.seen.last(name)
	if !ok || known.seq != seq || !known.complete {
		got, err := c.read(ctx, name)
		if err != nil {
			return 0, 0, err
		}
		if got.seq != seq {
			return 0, 0, errLost
		}
		known.deadline = got.deadline
		if !got.present {
			known.deadline = endless
		}
	}
	if known.deadline == endless {
		return endless, 0, nil
	}
	if now, err = c.serverNow(ctx); err == nil && now >= known.deadline {
		err = errLost
	}
	return known.deadline, now, err
}
