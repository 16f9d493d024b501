package pauses

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

// Follower knows what is paused now. Safe for concurrent use.
type Follower struct {
	log     *slog.Logger
	inForce atomic.Pointer[map[string]running] // by key

	// Of Look only.
	bucket  *follow.Bucket
	entries []Pause           // valid ones, ended or not
	bad     map[string]uint64 // revision of the invalid ones, to be told of once
}

// running is a pause that has not ended.
type running struct {
	Pause
	ends time.Time // on this process's monotonic clock
}

// NewFollower returns a follower that knows of no pause before the first
// [Follower.Look]. A nil logger is silent.
func NewFollower(js jetstream.JetStream, names wire.Names, logger *slog.Logger) *Follower {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	f := &Follower{log: logger.With("bucket", names.PauseBucket()), bucket: follow.NewBucket(js, names.PauseBucket())}
	f.inForce.Store(&map[string]running{})
	return f
}

// Fleet returns for how much longer the whole fleet is paused; 0 if it is not.
func (f *Follower) Fleet() time.Duration { return f.left(fleetKey) }

// Tenant returns for how much longer a tenant is paused, by itself or with the
// whole fleet; 0 if it is not.
func (f *Follower) Tenant(tenant string) time.Duration {
	return max(f.left(fleetKey), f.left(Pause{Tenant: tenant}.Key()))
}

func (f *Follower) left(key string) time.Duration {
	r, ok := (*f.inForce.Load())[key]
	if !ok {
		return 0
	}
	return max(0, time.Until(r.ends))
}

// All returns the pauses in force, that of the fleet first, then by tenant.
func (f *Follower) All() []Pause {
	all := []Pause{}
	for _, r := range *f.inForce.Load() {
		if time.Until(r.ends) > 0 {
			all = append(all, r.Pause)
		}
	}
	slices.SortFunc(all, Compare)
	return all
}

// Compare puts the pause of the fleet first, then orders by tenant.
func Compare(a, b Pause) int {
	if a.Fleet != b.Fleet {
		if a.Fleet {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Tenant, b.Tenant)
}

// Run looks for changes until ctx ends, and calls changed after each: a pause has
// begun, was changed, or is over.
func (f *Follower) Run(ctx context.Context, changed func()) {
	follow.Run(ctx, f.Look, changed, f.log, "what is paused")
}

// Look reads the bucket if it has changed, and asks the server for the time. A
// bucket that does not exist pauses nothing. After an error what is known stays,
// until it ends. It is not for concurrent use.
func (f *Follower) Look(ctx context.Context) (changed bool, err error) {
	reading, err := f.bucket.Look(ctx)
	if err != nil {
		return false, err
	}
	if reading.Fresh {
		f.take(reading.Entries)
	}
	return f.replace(inForce(f.entries, reading.Now, time.Now())), nil
}

// take parses the bucket. An entry that is invalid pauses nothing.
func (f *Follower) take(entries []follow.Entry) {
	bad := map[string]uint64{}
	f.entries = f.entries[:0]
	for _, got := range entries {
		p, err := Parse(got.Key, got.Value, got.Created)
		if err == nil {
			f.entries = append(f.entries, p)
			continue
		}
		bad[got.Key] = got.Revision
		if f.bad[got.Key] != got.Revision {
			f.log.Error("ignoring a pause", "key", got.Key, "error", wire.CleanError(err.Error()))
		}
	}
	f.bad = bad
}

// inForce returns the pauses that have not ended. now is the server's time, and
// local the same moment on this process's monotonic clock: from there on no clock
// that somebody sets has a say.
func inForce(entries []Pause, now, local time.Time) map[string]running {
	all := map[string]running{}
	for _, p := range entries {
		if left := p.Until.Sub(now); left > 0 {
			all[p.Key()] = running{p, local.Add(left)}
		}
	}
	return all
}

// replace takes over what is in force, and reports whether that is something else
// than before.
func (f *Follower) replace(all map[string]running) (changed bool) {
	before := *f.inForce.Swap(&all)
	for key, r := range all {
		if old, ok := before[key]; !ok || !old.Until.Equal(r.Until) {
			f.log.Warn("paused", "key", key, "until", r.Until, "reason", r.Reason)
			changed = true
		}
	}
	for key := range before {
		if _, ok := all[key]; !ok {
			f.log.Warn("no longer paused", "key", key)
			changed = true
		}
	}
	return changed
}
