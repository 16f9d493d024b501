package natskv

import (
	"context"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Ensure creates again what somebody has deleted: the bucket, and the streams of
// hits and ledgers if this process has used them. It returns what it has created,
// for the log. What this process knew of something that was made anew, by it or by
// another, it forgets: values, hits and windows are gone for everybody. Call it now
// and then, every few seconds; until then operations on what is gone fail with
// [kvcache.ErrUnavailable]. An error says what cannot be had: also
// kvcache.ErrUnavailable, or a [MismatchError].
func (c *Cache) Ensure(ctx context.Context) (created []string, err error) {
	if c.closed.Load() {
		return nil, kvcache.ErrClosed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, openPatience*c.timeout, errNoAnswer)
	defer cancel()
	for _, part := range []struct {
		object string
		ensure func(context.Context) (created bool, err error)
	}{
		{"bucket " + c.bucket, c.openBucket},
		{"stream " + c.hits.stream, c.hits.again},
		{"stream LEDGER_" + c.bucket, c.book.again},
	} {
		made, err := part.ensure(ctx)
		if err != nil {
			return created, err
		}
		if made {
			created = append(created, part.object)
		}
	}
	return created, nil
}

// EnsureLedger creates the stream of the ledgers, which is otherwise made when the
// first one is used: for whoever prepares a server for processes that may not
// create anything.
func (c *Cache) EnsureLedger(ctx context.Context) (created bool, err error) {
	if c.closed.Load() {
		return false, kvcache.ErrClosed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, openPatience*c.timeout, errNoAnswer)
	defer cancel()
	return c.book.make(ctx)
}

// openBucket makes sure that the bucket is there and fit for use.
func (c *Cache) openBucket(ctx context.Context) (created bool, err error) {
	have, err := c.ensureBucket(ctx)
	if err != nil {
		return false, err
	}
	// Any replica may answer a direct read, and what they show of two keys may be
	// out of order, which a caller of Load must not see.
	c.direct.Store(have.AllowDirect && have.Replicas <= 1)
	c.revisions.Store(have.MaxMsgsPerSubject != 1)
	if c.life.renewed(have.born) {
		c.seen.forget()
	}
	return have.created, nil
}

// again makes the stream again if it has been used and is gone.
func (l *hitLog) again(ctx context.Context) (created bool, err error) {
	if !l.known() {
		return false, nil
	}
	return l.open(ctx)
}

// again makes the log again if it has been used and is gone.
func (b *logbook) again(ctx context.Context) (created bool, err error) {
	b.mu.Lock()
	used := b.opened && !b.closed
	b.mu.Unlock()
	if !used {
		return false, nil
	}
	return b.make(ctx)
}

// forget drops everything that was known of a log that is gone. What is to be
// given back still is: some of it may have been taken from the new log already,
// and to give back what is gone with the old one does no harm.
func (t *tail) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.restart()
	t.behind = true // there may be entries of the new log already
	t.line.Clear()
	for _, id := range t.spares.ids {
		t.giveBack(id)
	}
	t.spares.ids, t.spares.size = nil, 0
	t.wake()
	t.start()
}
