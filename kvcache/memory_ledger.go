package kvcache

import (
	"context"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// book is the ledger of one key. Its instants are the cache's, since start.
type book struct {
	ledger.Window
	ledger.Line
}

// Admit implements [Ledger], exactly: the one lock makes it one step.
func (m *Memory) Admit(ctx context.Context, key string, ask Ask) (Admission, error) {
	if err := ask.Check(); err != nil {
		return Admission{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Admission{}, err
	}
	defer m.mu.Unlock()
	b, now := m.book(key), m.now()
	q := ledger.Quota(ask.Quota)
	at := max(int64(now), b.Latest()) // a clock that steps back makes no room
	if !b.Fits(at, q, ask.Tokens) {
		wait := b.Slot(&b.Window, at, q, ask.Tokens, ask.Waiter) - int64(now)
		return Admission{RetryAfter: time.Duration(wait)}, nil
	}
	if ask.Waiter != "" {
		b.Leave(ask.Waiter)
	}
	if q.Unlimited() {
		m.sweep(now) // also of the books that only say that there is nothing to say
		return Admission{Admitted: true}, nil
	}
	m.admissions++
	b.Keep(q.Window)
	b.Add(m.admissions, at, ask.Tokens)
	m.sweep(now)
	return Admission{Admitted: true, ID: m.admissions}, nil
}

// Settle implements [Ledger].
func (m *Memory) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	if tokens < 0 || tokens > MaxTokens {
		return fmt.Errorf("%w: %d tokens", ErrInvalidAsk, tokens)
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if r := m.records[key]; r != nil && r.book != nil {
		r.book.Window.Settle(id, tokens)
	}
	return nil
}

// Cool implements [Ledger].
func (m *Memory) Cool(ctx context.Context, key string, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	b, now := m.book(key), m.now()
	b.Window.Cool(int64(now + min(d, MaxWindow)))
	b.Clear()
	m.sweep(now)
	return nil
}

// Peek implements [Ledger].
func (m *Memory) Peek(ctx context.Context, key string, q Quota) (Standing, error) {
	if err := q.Check(); err != nil {
		return Standing{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Standing{}, err
	}
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil || r.book == nil {
		return Standing{}, nil
	}
	now := int64(m.now())
	at := max(now, r.book.Latest())
	requests, tokens := r.book.Held(at, q.Window)
	standing := Standing{Requests: requests, Tokens: tokens}
	if !r.book.Fits(at, ledger.Quota(q), 0) {
		standing.RetryAfter = time.Duration(r.book.Opens(at, ledger.Quota(q), 0) - now)
	}
	return standing, nil
}

// book returns the ledger of key, made if need be.
func (m *Memory) book(key string) *book {
	r := m.ensure(key)
	if r.book == nil {
		r.book = new(book)
	}
	return r.book
}

// forgetBook drops the ledger of r once nothing in it can matter any more.
func (r *record) forgetBook(now time.Duration) {
	if r.book != nil && r.book.Window.Empty(int64(now)) && r.book.Line.Empty(int64(now)) {
		r.book = nil
	}
}
