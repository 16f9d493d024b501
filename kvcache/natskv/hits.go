package natskv

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/hits"
)

// hitLog is the hit series of all keys: a stream with one message per hit, and
// what this process has read of it.
type hitLog struct {
	c      *client
	stream string
	prefix string // of a key's subject

	mu     sync.Mutex
	ready  bool // the stream was there
	life   life
	series map[string]*hitSeries
}

// hitSeries is what has been read of one key. It is guarded by the log's lock.
type hitSeries struct {
	hits  hits.Series
	next  uint64          // everything before this sequence has been read
	ahead map[uint64]bool // this process's own hits that were added without reading
	used  int64           // local time of the last use
}

// idleSeries is how long a series that nobody asks for is kept: less than the
// marker of a deleted one stays to be read.
const idleSeries = markerTTL / 3

func newHitLog(c *client) *hitLog {
	return &hitLog{c: c, stream: "HITS_" + c.bucket, prefix: "$HITS." + c.bucket + ".", series: make(map[string]*hitSeries)}
}

// RecordHit implements [kvcache.HitWindow]: one round trip.
func (c *Cache) RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("%w: a hit needs a positive one, not %v", kvcache.ErrInvalidTTL, ttl)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := c.hits.ensure(ctx); err != nil {
		return err
	}
	token := subjectToken(key)
	m := &nats.Msg{Subject: c.hits.prefix + token, Header: make(nats.Header, 3)}
	m.Header[headerAt] = []string{at.UTC().Format(time.RFC3339Nano)}
	lives(m.Header, ttl)
	seq, err := c.publish(ctx, m)
	if err != nil {
		return notLost(err)
	}
	c.hits.mu.Lock()
	defer c.hits.mu.Unlock()
	s := c.hits.of(token)
	if seq >= s.next && !s.ahead[seq] { // unless it has been read already
		s.hits.Add(at, after(c.clock.now(), ttl), seq)
		s.ahead[seq] = true
	}
	return nil
}

// CountHits implements [kvcache.HitWindow]: one round trip, which brings what is
// new.
func (c *Cache) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	count, _, err := c.hitsSince(ctx, key, since)
	return count, err
}

// OldestHit implements [kvcache.HitWindow]: one round trip, which brings what is
// new.
func (c *Cache) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	count, oldest, err := c.hitsSince(ctx, key, since)
	return oldest, count > 0, err
}

func (c *Cache) hitsSince(ctx context.Context, key string, since time.Time) (int, time.Time, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return 0, time.Time{}, err
	}
	defer done()
	if err := c.hits.ensure(ctx); err != nil {
		return 0, time.Time{}, err
	}
	token := subjectToken(key)
	if err := c.hits.refresh(ctx, token); err != nil {
		return 0, time.Time{}, err
	}
	c.hits.mu.Lock()
	defer c.hits.mu.Unlock()
	count, oldest := c.hits.of(token).hits.Since(since)
	return count, oldest, nil
}

// ensure creates the stream when it is needed for the first time.
func (l *hitLog) ensure(ctx context.Context) error {
	if l.known() {
		return nil
	}
	_, err := l.open(ctx)
	return err
}

// open makes sure that the stream is there and fit for use.
func (l *hitLog) open(ctx context.Context) (created bool, err error) {
	want := jetstream.StreamConfig{
		Name:        l.stream,
		Description: "hit series of " + l.c.bucket + ": one message per hit",
		Subjects:    []string{l.prefix + "*"},
		Storage:     l.c.storage,
		Replicas:    l.c.replicas,
		AllowDirect: true,
		AllowMsgTTL: true,
		AllowRollup: true,
	}
	have, err := l.c.ensureStream(ctx, want)
	if err != nil {
		return false, err
	}
	err = firstMismatch(have.Name, []requirement{
		{"subjects", len(have.Subjects) == 1 && have.Subjects[0] == want.Subjects[0], have.Subjects, want.Subjects},
		{"retention", have.Retention == jetstream.LimitsPolicy, have.Retention, jetstream.LimitsPolicy},
		{"max_age", have.MaxAge == 0, have.MaxAge, "0, because every hit has a ttl of its own"},
		{"max_msgs_per_subject", have.MaxMsgsPerSubject <= 0, have.MaxMsgsPerSubject, "unlimited"},
		{"allow_direct", have.AllowDirect, false, true},
		{"allow_msg_ttl", have.AllowMsgTTL, false, true},
		{"allow_rollup_hdrs", have.AllowRollup, false, true},
	})
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready = true
	if l.life.renewed(have.born) {
		l.series = make(map[string]*hitSeries)
	}
	return have.created, nil
}

func (l *hitLog) known() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready
}

// of returns the series of a key, made if need be, and gives back one or two that
// are idle. Called with the lock held.
func (l *hitLog) of(token string) *hitSeries {
	now := l.c.clock.elapsed()
	s := l.series[token]
	if s == nil {
		s = &hitSeries{next: 1, ahead: make(map[uint64]bool)}
		l.series[token] = s
	}
	s.used = now
	s.hits.Forget(l.c.clock.now())
	looked := 0
	for other, idle := range l.series { // in a random order
		if now-idle.used > int64(idleSeries) {
			delete(l.series, other)
		}
		if looked++; looked == 2 {
			break
		}
	}
	return s
}
