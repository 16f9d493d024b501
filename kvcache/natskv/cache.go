package natskv

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// defaultTimeout is how long an operation may take at most.
const defaultTimeout = 2 * time.Second

// Cache is the [kvcache.Cache] on JetStream. It also offers
// [kvcache.Versioned], [kvcache.Ledger] and [kvcache.Watcher]. Safe for
// concurrent use.
type Cache struct {
	*client
	timeout time.Duration // of an operation

	put    string // prefix of a key's subject, as one publishes to it
	stored string // prefix of a key's subject, as it is stored

	life      life        // of the bucket
	direct    atomic.Bool // reads need not be answered by the leader
	revisions atomic.Bool // the bucket keeps more of a key than its last message

	seen   *sightings
	hits   *hitLog
	book   *logbook
	closed atomic.Bool
	ended  chan struct{} // closed with the cache
}

var (
	_ kvcache.Cache     = (*Cache)(nil)
	_ kvcache.Versioned = (*Cache)(nil)
	_ kvcache.Ledger    = (*Cache)(nil)
	_ kvcache.Watcher   = (*Cache)(nil)
)

type options struct {
	timeout  time.Duration
	storage  jetstream.StorageType
	replicas int
	clock    func() time.Time
}

// Option adjusts [Open].
type Option func(*options) error

// WithTimeout sets how long an operation may take at most. Default: 2 s.
func WithTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("natskv: timeout of %v, has to be positive", d)
		}
		o.timeout = d
		return nil
	}
}

// WithStorage sets where a bucket that has to be created keeps its data.
// Default: file.
func WithStorage(s jetstream.StorageType) Option {
	return func(o *options) error { o.storage = s; return nil }
}

// WithReplicas sets how many servers keep a bucket that has to be created.
// Default: 1.
func WithReplicas(n int) Option {
	return func(o *options) error {
		if n < 1 || n > 5 {
			return fmt.Errorf("natskv: %d replicas, has to be from 1 to 5", n)
		}
		o.replicas = n
		return nil
	}
}

// WithClock sets the clock that measures the time since the server last told its
// own. Default: time.Now.
func WithClock(clock func() time.Time) Option {
	return func(o *options) error { o.clock = clock; return nil }
}

var bucketName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// Open returns the cache in a bucket, which is created if it is missing. One
// that exists gets the features that are missing and add something (message
// TTLs, delete markers, atomic batches; they need nats-server 2.12) and is
// otherwise left as it is; a [MismatchError] names what cannot be lived with.
//
// js may be of a JetStream domain, or have an API prefix of its own: keys are
// published below it, as the client does for any bucket, and hits and windows on the
// subjects that their streams have.
//
// The connection under js stays the caller's: Close leaves it open.
func Open(ctx context.Context, js jetstream.JetStream, bucket string, opts ...Option) (*Cache, error) {
	if js == nil {
		return nil, errors.New("natskv: js is nil")
	}
	if !bucketName.MatchString(bucket) {
		return nil, fmt.Errorf("natskv: bucket %q, has to be of letters, digits, - and _", bucket)
	}
	o := options{timeout: defaultTimeout, storage: jetstream.FileStorage, replicas: 1}
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	c := &Cache{
		client: newClient(js, bucket, o), timeout: o.timeout,
		stored: "$KV." + bucket + ".",
		seen:   newSightings(),
		ended:  make(chan struct{}),
	}
	c.put = c.stored
	if c.api != jetstream.DefaultAPIPrefix {
		c.put = c.api + c.stored // as clients do, and for keys alone
	}
	c.hits = newHitLog(c.client)
	c.book = newLogbook(newNatsLog(c.client), o.clock, o.timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, openPatience*o.timeout, errNoAnswer)
	defer cancel()
	if _, err := c.openBucket(ctx); err != nil {
		return nil, err
	}
	return c, c.askTime(ctx)
}

// Making a bucket takes a few steps, and electing a leader takes the servers a
// moment.
const openPatience = 5

// Close implements [kvcache.Cache]: it ends what follows the ledger,
// and every watch. The connection is the caller's.
func (c *Cache) Close() error {
	if !c.closed.Swap(true) {
		close(c.ended)
	}
	c.book.close()
	return nil
}

// begin starts an operation: it refuses where there is no point, and limits how
// long it takes. done has to be called.
func (c *Cache) begin(ctx context.Context) (limited context.Context, done context.CancelFunc, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if c.closed.Load() {
		return nil, nil, kvcache.ErrClosed
	}
	limited, done = context.WithTimeoutCause(ctx, c.timeout, errNoAnswer)
	return limited, done, nil
}
