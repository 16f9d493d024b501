package limits

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Follower knows the limits of every tenant that has its own. Safe for
// concurrent use.
type Follower struct {
	bucket  *follow.Bucket // of Look only
	base    resilience.Limits
	log     *slog.Logger
	tenants atomic.Pointer[map[string]entry]
}

// entry is what was last good of a key.
type entry struct {
	limits   resilience.Limits
	good     bool
	revision uint64 // that was read last, good or not
}

// NewFollower returns a follower that knows of no limits before the first
// [Follower.Look]. What an entry does not say is as in base. A nil logger is
// silent.
func NewFollower(js jetstream.JetStream, names wire.Names, base resilience.Limits, logger *slog.Logger) *Follower {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	name := names.LimitsBucket()
	f := &Follower{bucket: follow.NewBucket(js, name), base: base, log: logger.With("bucket", name)}
	f.tenants.Store(&map[string]entry{})
	return f
}

// For is what resilience.LimiterConfig asks for as LimitsFor.
func (f *Follower) For(tenant string) (resilience.Limits, bool) {
	e := (*f.tenants.Load())[wire.EncodeToken(tenant)]
	return e.limits, e.good
}

// Run looks for changes until ctx ends, and calls changed after each.
func (f *Follower) Run(ctx context.Context, changed func()) {
	follow.Run(ctx, f.Look, changed, f.log, "the tenants' limits")
}

// Look reads the bucket if it has changed. A bucket that does not exist holds no
// limits. After an error what is known stays. It is not for concurrent use.
func (f *Follower) Look(ctx context.Context) (changed bool, err error) {
	reading, err := f.bucket.Look(ctx)
	if err != nil || !reading.Fresh {
		return false, err
	}
	before, tenants := *f.tenants.Load(), map[string]entry{}
	for _, got := range reading.Entries {
		tenants[got.Key] = f.take(got, before[got.Key])
	}
	return f.replace(tenants), nil
}

// replace takes over what was read, and reports whether any limits are others
// than before.
func (f *Follower) replace(tenants map[string]entry) (changed bool) {
	before := *f.tenants.Swap(&tenants)
	for key, e := range tenants {
		if old := before[key]; old.good != e.good || old.limits != e.limits {
			f.log.Info("limits of a tenant have changed", "key", key, "requests", e.limits.Requests, "window", e.limits.Window, "tokens", e.limits.Tokens)
			changed = true
		}
	}
	for key, old := range before {
		if _, ok := tenants[key]; !ok && old.good {
			f.log.Info("limits of a tenant are the fleet's again", "key", key)
			changed = true
		}
	}
	return changed
}

// take reads one entry. One that is invalid stays what it was.
func (f *Follower) take(got follow.Entry, before entry) entry {
	limits, err := Parse(got.Value, f.base)
	if err == nil {
		_, err = wire.DecodeToken(got.Key)
	}
	if err == nil {
		return entry{limits, true, got.Revision}
	}
	if before.revision != got.Revision {
		f.log.Error("ignoring the limits of a tenant", "key", got.Key, "error", err.Error(), "keeps_earlier", before.good)
	}
	before.revision = got.Revision
	return before
}
