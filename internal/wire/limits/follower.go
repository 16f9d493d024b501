package limits

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	// lookEvery is how soon a change is followed. Looking costs one small
	// request; a watcher would be quicker, and blind for many seconds after
	// some reconnects without anybody noticing.
	lookEvery = time.Second
	// rereadEvery finds entries that the server has removed without a trace.
	rereadEvery = time.Minute

	timeout = 5 * time.Second
)

// Follower knows the limits of every tenant that has its own. Safe for
// concurrent use.
type Follower struct {
	js      jetstream.JetStream
	names   wire.Names
	base    resilience.Limits
	log     *slog.Logger
	tenants atomic.Pointer[map[string]entry]

	// Of Look only.
	seen   mark
	readAt time.Time
}

// entry is what was last good of a key.
type entry struct {
	limits   resilience.Limits
	good     bool
	revision uint64 // that was read last, good or not
}

// mark moves whenever anything is written to the bucket.
type mark struct {
	created time.Time
	last    uint64
	count   uint64
}

// NewFollower returns a follower that knows of no limits before the first
// [Follower.Look]. What an entry does not say is as in base. A nil logger is
// silent.
func NewFollower(js jetstream.JetStream, names wire.Names, base resilience.Limits, logger *slog.Logger) *Follower {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	f := &Follower{js: js, names: names, base: base, log: logger}
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
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	complained := false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		news, err := f.Look(ctx)
		if err != nil && ctx.Err() == nil && !complained {
			f.log.Warn("cannot read the tenants' limits, keeping those that are known", "bucket", f.names.LimitsBucket(), "error", err.Error())
		}
		complained = err != nil
		if news {
			changed()
		}
	}
}

// Look reads the bucket if it has changed. A bucket that does not exist holds no
// limits. After an error what is known stays. It is not for concurrent use.
func (f *Follower) Look(ctx context.Context) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stream, err := f.js.Stream(ctx, "KV_"+f.names.LimitsBucket())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		f.seen = mark{}
		return f.replace(map[string]entry{}), nil
	}
	if err != nil {
		return false, err
	}
	info := stream.CachedInfo()
	now := mark{info.Created, info.State.LastSeq, info.State.Msgs}
	if now == f.seen && time.Since(f.readAt) < rereadEvery {
		return false, nil
	}
	tenants, err := f.read(ctx)
	if err != nil {
		return false, err
	}
	f.seen, f.readAt = now, time.Now()
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

// read takes all entries of the bucket. One that is invalid stays what it was.
func (f *Follower) read(ctx context.Context) (map[string]entry, error) {
	bucket, err := f.js.KeyValue(ctx, f.names.LimitsBucket())
	if err != nil {
		return nil, err
	}
	all, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = all.Stop() }()
	before, tenants := *f.tenants.Load(), map[string]entry{}
	for {
		select {
		case got, ok := <-all.Updates():
			if !ok {
				return nil, errors.New("the bucket went away while it was read")
			}
			if got == nil { // that is all
				return tenants, nil
			}
			tenants[got.Key()] = f.take(got, before[got.Key()])
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *Follower) take(got jetstream.KeyValueEntry, before entry) entry {
	limits, err := Parse(got.Value(), f.base)
	if err == nil {
		_, err = wire.DecodeToken(got.Key())
	}
	if err == nil {
		return entry{limits, true, got.Revision()}
	}
	if before.revision != got.Revision() {
		f.log.Error("ignoring the limits of a tenant", "bucket", f.names.LimitsBucket(), "key", got.Key(), "error", err.Error(), "keeps_earlier", before.good)
	}
	before.revision = got.Revision()
	return before
}
