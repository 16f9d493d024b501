package kvcache

import (
	"context"
	"slices"
	"time"
)

// watch is how one call of [Memory.Watch] is woken. It holds one signal: whoever
// is woken looks at all keys, so that a second one would say nothing new.
type watch chan struct{}

// movedStep is how often a watch looks at a clock that no timer follows.
const movedStep = 20 * time.Millisecond

// Watch implements [Watcher]. It runs in the caller's goroutine and starts none.
func (m *Memory) Watch(ctx context.Context, keys []string, changed func(Entry)) error {
	seen := make([]Entry, 0, len(keys))
	for _, key := range keys {
		if !slices.ContainsFunc(seen, func(e Entry) bool { return e.Key == key }) {
			seen = append(seen, Entry{Key: key})
		}
	}
	w := make(watch, 1)
	if err := m.beginWatch(ctx, w, seen); err != nil {
		return err
	}
	defer m.endWatch(w, seen)

	expiry := time.NewTimer(never)
	defer expiry.Stop()
	told := slices.Clone(seen)
	for first := true; ; first = false {
		wait, err := m.look(ctx, seen)
		if err != nil {
			return err
		}
		for i, e := range seen {
			if !first && (e == told[i] || !e.Present && !told[i].Present) {
				continue
			}
			if ctx.Err() != nil { // changed may have ended it
				return ctx.Err()
			}
			told[i] = e
			changed(e)
		}
		expiry.Reset(wait)
		select {
		case <-w:
		case <-expiry.C:
		case <-m.ended:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Memory) beginWatch(ctx context.Context, w watch, entries []Entry) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, e := range entries {
		m.watches[e.Key] = append(m.watches[e.Key], w)
	}
	return nil
}

func (m *Memory) endWatch(w watch, entries []Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range entries {
		others := slices.DeleteFunc(m.watches[e.Key], func(other watch) bool { return other == w })
		if len(others) == 0 {
			delete(m.watches, e.Key)
			continue
		}
		m.watches[e.Key] = others
	}
}

// look loads entries and returns how long none of them will expire.
func (m *Memory) look(ctx context.Context, entries []Entry) (time.Duration, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	m.load(entries)
	first := never
	for _, e := range entries {
		first = min(first, m.records[e.Key].deadline)
	}
	switch {
	case first == never:
		return never, nil
	case m.moved:
		return min(first-m.now(), movedStep), nil
	}
	return first - m.now(), nil
}

// wake tells everybody who watches key to look. Called with the lock held.
func (m *Memory) wake(key string) {
	for _, w := range m.watches[key] {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}
