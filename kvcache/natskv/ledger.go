package natskv

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// Admit implements [kvcache.Ledger].
func (c *Cache) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	if err := ask.Check(); err != nil {
		return kvcache.Admission{}, err
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return kvcache.Admission{}, err
	}
	defer done()
	return c.book.admit(ctx, subjectToken(key), ask)
}

// Settle implements [kvcache.Ledger].
func (c *Cache) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	if tokens < 0 || tokens > kvcache.MaxTokens {
		return fmt.Errorf("%w: %d tokens", kvcache.ErrInvalidAsk, tokens)
	}
	if id == 0 {
		return ctx.Err()
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.book.say(ctx, subjectToken(key), note{kind: used, id: id, tokens: tokens})
}

// Cool implements [kvcache.Ledger].
func (c *Cache) Cool(ctx context.Context, key string, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.book.say(ctx, subjectToken(key), note{kind: cool, span: min(d, kvcache.MaxWindow)})
}

// Peek implements [kvcache.Ledger].
func (c *Cache) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	if err := q.Check(); err != nil {
		return kvcache.Standing{}, err
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return kvcache.Standing{}, err
	}
	defer done()
	return c.book.peek(ctx, subjectToken(key), q)
}

// logbook is the logs of all keys that this process uses. Safe for concurrent
// use.
type logbook struct {
	log     serverLog
	clock   *serverClock  // of the server that leads the log
	timeout time.Duration // from an entry's being sent to its being judged

	opening chan struct{} // holds a token while nobody is opening the log
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup // operations, and goroutines that append

	mu     sync.Mutex
	opened bool
	life   life // of the log
	closed bool
	tails  map[string]*tail
}

const (
	longestLedgerTimeout = 5 * time.Second

	// An entry outlives its window by this much, so that whoever appends at
	// the end of the window still reads it: longer than any timeout.
	entryGrace = 2 * longestLedgerTimeout

	// A key that nobody has asked about for this long, and for twice its window,
	// is no longer followed.
	idleTail = 30 * time.Second
)

func newLogbook(log serverLog, clock func() time.Time, timeout time.Duration) *logbook {
	b := &logbook{
		log:     log,
		clock:   newServerClock(clock),
		timeout: min(timeout, longestLedgerTimeout),
		opening: make(chan struct{}, 1),
		tails:   make(map[string]*tail),
	}
	b.opening <- struct{}{}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

func (b *logbook) admit(ctx context.Context, name string, ask kvcache.Ask) (kvcache.Admission, error) {
	t, err := b.enter(ctx, name)
	if err != nil {
		return kvcache.Admission{}, err
	}
	defer b.work.Done()
	if ledger.Quota(ask.Quota).Unlimited() {
		// Only a cool-down can refuse it, which is to be known within a second.
		if err := t.refresh(ctx, padded(ask.Quota).Window, time.Second); err != nil {
			return kvcache.Admission{}, err
		}
	}
	return t.admit(ctx, ask)
}

// say puts a note into the next entry and waits until it is in the log.
func (b *logbook) say(ctx context.Context, name string, n note) error {
	t, err := b.enter(ctx, name)
	if err != nil {
		return err
	}
	defer b.work.Done()
	_, err = t.submit(ctx, &call{note: n})
	return err
}

func (b *logbook) peek(ctx context.Context, name string, q kvcache.Quota) (kvcache.Standing, error) {
	t, err := b.enter(ctx, name)
	if err != nil {
		return kvcache.Standing{}, err
	}
	defer b.work.Done()
	if err := t.refresh(ctx, padded(q).Window, 0); err != nil {
		return kvcache.Standing{}, err
	}
	return t.standing(q), nil
}

// enter returns the log of a key, followed from now on, for one operation, after
// which work.Done has to be called.
func (b *logbook) enter(ctx context.Context, name string) (*tail, error) {
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, kvcache.ErrClosed
	}
	t := b.tails[name]
	if t == nil {
		t = newTail(b, name)
		var err error
		if t.stop, err = b.log.follow(name, t.receive); err != nil {
			return nil, err
		}
		b.tails[name] = t
	}
	now := b.clock.elapsed()
	t.touch(now)
	b.dropIdle(now)
	b.work.Add(1)
	return t, nil
}

// begin starts something that close waits for, unless it has been closed.
func (b *logbook) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.work.Add(1)
	return true
}

// open makes sure, once, that there is a log.
func (b *logbook) open(ctx context.Context) error {
	b.mu.Lock()
	opened := b.opened || b.closed
	b.mu.Unlock()
	if opened {
		return nil
	}
	select {
	case <-b.opening:
		defer func() { b.opening <- struct{}{} }()
	case <-ctx.Done():
		return ended(ctx)
	}
	_, err := b.make(ctx)
	return err
}

// make makes sure that there is a log. If it is not the one that was there
// before, what that has said is forgotten.
func (b *logbook) make(ctx context.Context) (created bool, err error) {
	born, created, err := b.log.ensure(ctx)
	if err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = true
	if b.life.renewed(born) {
		for _, t := range b.tails {
			t.forget()
		}
	}
	return created, nil
}

// dropIdle looks at a few keys and stops following those that are idle. Called
// with the lock held.
func (b *logbook) dropIdle(now int64) {
	looked := 0
	for name, t := range b.tails { // in a random order
		if t.idle(now) {
			t.stop()
			delete(b.tails, name)
		}
		if looked++; looked == 2 {
			return
		}
	}
}

// close stops following, and waits for the operations that are under way to
// fail.
func (b *logbook) close() {
	b.mu.Lock()
	tails := b.tails
	b.tails, b.closed = nil, true
	b.mu.Unlock()
	b.cancel()
	for _, t := range tails {
		t.stop()
	}
	b.work.Wait()
}

// closing tells what is wrong if the log could not be used because of close.
func (b *logbook) closing(err error) error {
	if err != nil && b.ctx.Err() != nil {
		return kvcache.ErrClosed
	}
	return err
}
