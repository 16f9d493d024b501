package kvcache

import (
	"context"
	"time"
)

// Unversioned returns the [Versioned] capability of kv: kv's own where it has
// it, else an emulation made of Get, Set and Delete.
//
// The emulation's guarantee is weaker. It is exact for callers in one process
// that share the returned value and write these keys in no other way. Writers
// elsewhere race with it: between its reading and its writing another one may
// write too, and one of the two is lost; a value that was changed and changed
// back looks untouched; several keys are written one after another, so others
// can see half of a swap, and so can everybody after an error. [KeepTTL] keeps
// only deadlines that this value has set. Deleting a key in a swap deletes its
// hit series too, as [KeyValue.Delete] does.
func Unversioned(kv KeyValue) Versioned {
	if v, ok := kv.(Versioned); ok {
		return v
	}
	return &unversioned{kv: kv, turn: make(chan struct{}, 1), seen: NewMemory()}
}

type unversioned struct {
	kv   KeyValue
	turn chan struct{} // a lock that can be waited for with a context
	seen *Memory       // what each key held when last looked at; versions and deadlines come from here
}

func (u *unversioned) Load(ctx context.Context, entries []Entry) error {
	if err := u.enter(ctx); err != nil {
		return err
	}
	defer u.leave()
	for i := range entries {
		if err := u.look(ctx, entries[i].Key); err != nil {
			return err
		}
	}
	return u.seen.Load(ctx, entries)
}

func (u *unversioned) Swap(ctx context.Context, changes []Change) (bool, error) {
	if err := CheckChanges(changes); err != nil {
		return false, err
	}
	if err := u.enter(ctx); err != nil {
		return false, err
	}
	defer u.leave()
	for i := range changes {
		if err := u.look(ctx, changes[i].Key); err != nil {
			return false, err
		}
	}
	ttls, ok := u.seen.unchanged(changes)
	if !ok {
		return false, nil
	}
	for i, c := range changes {
		var err error
		if c.Delete {
			err = u.kv.Delete(ctx, c.Key)
		} else {
			err = u.kv.Set(ctx, c.Key, c.Value, ttls[i])
		}
		if err != nil {
			u.note(unknown(changes))
			return false, err
		}
	}
	u.note(changes)
	return true, nil
}

// note takes over changes into what was seen, whatever it was.
func (u *unversioned) note(changes []Change) {
	u.seen.mu.Lock()
	defer u.seen.mu.Unlock()
	u.seen.apply(changes, u.seen.now())
}

// unknown turns changes whose outcome is not known into ones that outdate every
// version read so far; the next look finds out what is there.
func unknown(changes []Change) []Change {
	out := make([]Change, len(changes))
	for i, c := range changes {
		out[i] = Change{Key: c.Key, Delete: true}
	}
	return out
}

func (u *unversioned) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case u.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *unversioned) leave() { <-u.turn }

// look reads key and notes it if it is not as it was when last seen.
func (u *unversioned) look(ctx context.Context, key string) error {
	value, present, err := u.kv.Get(ctx, key)
	if err != nil {
		return err
	}
	seen, was, err := u.seen.Get(ctx, key)
	switch {
	case err != nil:
		return err
	case present && (!was || seen != value):
		return u.seen.Set(ctx, key, value, 0)
	case was && !present:
		return u.seen.Delete(ctx, key)
	}
	return nil
}

// unchanged reports whether every key still has the version of its change, and
// the ttl that each change amounts to.
func (m *Memory) unchanged(changes []Change) (ttls []time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	ttls = make([]time.Duration, len(changes))
	for i, c := range changes {
		if m.versionAt(c.Key, now) != c.Version {
			return nil, false
		}
		switch r := m.records[c.Key]; {
		case c.TTL != KeepTTL:
			ttls[i] = c.TTL
		case r != nil && r.deadline != never:
			ttls[i] = r.deadline - now
		}
	}
	return ttls, true
}
