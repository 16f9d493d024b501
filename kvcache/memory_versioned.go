package kvcache

import (
	"context"
	"time"
)

// Load implements [Versioned]. Its entries are one snapshot.
func (m *Memory) Load(ctx context.Context, entries []Entry) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.load(entries)
	return nil
}

func (m *Memory) load(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		r := m.records[e.Key]
		if r == nil {
			r = m.ensure(e.Key)
			r.loaded = true
			m.sweep(m.now())
		}
		r.loaded = true
		m.expire(r)
		e.Value, e.Present, e.Version = r.value, r.present, r.version
	}
}

// Swap implements [Versioned]. An error means that nothing has changed.
func (m *Memory) Swap(ctx context.Context, changes []Change) (bool, error) {
	if err := CheckChanges(changes); err != nil {
		return false, err
	}
	if err := m.enter(ctx); err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	now := m.now()
	for i := range changes {
		if m.versionAt(changes[i].Key, now) != changes[i].Version {
			return false, nil
		}
	}
	m.apply(changes, now)
	return true, nil
}

// apply makes all changes, whatever the versions, and writes the new ones back.
func (m *Memory) apply(changes []Change, now time.Duration) {
	for i := range changes {
		c := &changes[i]
		r := m.ensure(c.Key)
		r.loaded = true
		m.expireAt(r, now)
		switch {
		case c.Delete:
			m.erase(r)
		case c.TTL == KeepTTL:
			m.write(r, c.Value, r.deadline)
		default:
			m.write(r, c.Value, deadlineAfter(now, c.TTL))
		}
		c.Version = r.version
	}
	m.sweep(now)
}

// versionAt returns the version of key, which for a forgotten one is the floor.
func (m *Memory) versionAt(key string, now time.Duration) uint64 {
	r := m.records[key]
	if r == nil {
		return m.floor
	}
	m.expireAt(r, now)
	return r.version
}
