package natskv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// simServer is a [serverLog]'s server in memory, by the time of the bubble it
// lives in. It remembers what it has let expire, for the verdict at the end.
type simServer struct {
	mu      sync.Mutex
	behind  time.Duration // of its clock
	seq     uint64
	entries []simEntry
	lives   []uint64 // first sequences of logs that were made anew
	feeds   map[*simFeed]string
}

type simEntry struct {
	name    string
	seq     uint64
	stamp   int64
	expires int64
	body    []byte
}

func (s *simServer) now() int64 { return time.Now().Add(-s.behind).UnixNano() }

// alive returns the entries of a name that have not expired. Called with the
// lock held.
func (s *simServer) alive(name string) (alive []simEntry) {
	for _, e := range s.entries {
		if e.name == name && e.expires > s.now() && s.life(e.seq) == len(s.lives) {
			alive = append(alive, e)
		}
	}
	return alive
}

// life tells which of the logs made one after another a sequence is of. Called with
// the lock held.
func (s *simServer) life(seq uint64) (life int) {
	for life < len(s.lives) && seq >= s.lives[life] {
		life++
	}
	return life
}

// remake is somebody who deletes the log, and somebody who makes it again.
func (s *simServer) remake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq += 1000
	s.lives = append(s.lives, s.seq+1)
}

func (s *simServer) add(name string, body []byte, ttl time.Duration) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	predecessor := uint64(0)
	if alive := s.alive(name); len(alive) > 0 {
		predecessor = alive[len(alive)-1].seq
	}
	s.seq++
	e := simEntry{name: name, seq: s.seq, stamp: s.now(), expires: s.now() + int64(ttl), body: body}
	s.entries = append(s.entries, e)
	for feed, of := range s.feeds {
		if of == name {
			feed.send(e, predecessor)
		}
	}
	return e.seq
}

// appended is how many entries were ever added.
func (s *simServer) appended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// simFeed brings entries to one follower: in order, late, and not all of them.
type simFeed struct {
	c     *simClient
	queue chan func()
	gone  chan struct{}
}

func (f *simFeed) send(e simEntry, predecessor uint64) {
	if f.c.happens(f.c.faults.lostFeed) {
		return
	}
	late := f.c.latency()
	f.queue <- func() {
		time.Sleep(late)
		f.c.receive(f, e, predecessor)
	}
}

// simFaults are how often, of a hundred, something goes wrong.
type simFaults struct{ lostFeed, lostRequest, lostReply, lateRequest, staleRead, failedRead int }

// simClient is one process: its connection to the server, and its logbook.
type simClient struct {
	s      *simServer
	faults simFaults
	dead   chan struct{} // closed when it crashes
	book   *logbook

	mu    sync.Mutex
	rng   *rand.Rand
	most  time.Duration // that a message travels
	jump  time.Duration // of its clock
	hears map[*simFeed]func(uint64, int64, uint64, []byte)
}

func newSimClient(s *simServer, faults simFaults, seed uint64) *simClient {
	c := &simClient{s: s, faults: faults, dead: make(chan struct{}), most: 20 * time.Millisecond, rng: rand.New(rand.NewPCG(seed, 1)),
		hears: map[*simFeed]func(uint64, int64, uint64, []byte){}}
	c.book = newLogbook(c, func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.Now().Add(c.jump)
	}, time.Second)
	return c
}

func (c *simClient) happens(percent int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(100) < percent
}

// waiter is who asks: half of them will come back, and a few are the same.
func (c *simClient) waiter() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.rng.IntN(40); n < 20 {
		return fmt.Sprint(n)
	}
	return ""
}

func (c *simClient) latency() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.rng.Int64N(int64(c.most)))
}

func (c *simClient) receive(f *simFeed, e simEntry, predecessor uint64) {
	c.mu.Lock()
	hear := c.hears[f]
	c.mu.Unlock()
	if hear != nil {
		hear(e.seq, e.stamp, predecessor, e.body)
	}
}

// travel takes as long as a message; a crashed process hears nothing any more.
func (c *simClient) travel(ctx context.Context, lost bool) error {
	var arrived <-chan time.Time
	if !lost {
		arrived = time.After(c.latency())
	}
	select {
	case <-arrived:
		select {
		case <-c.dead:
			<-ctx.Done()
			return unavailable(ctx.Err())
		default:
			return nil
		}
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}

func (c *simClient) ensure(ctx context.Context) (born time.Time, created bool, err error) {
	if err := c.travel(ctx, false); err != nil {
		return time.Time{}, false, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return time.Unix(int64(len(c.s.lives)), 0), false, nil
}

func (c *simClient) append(ctx context.Context, name string, body []byte, ttl time.Duration) (uint64, error) {
	if c.happens(c.faults.lateRequest) {
		go func() {
			time.Sleep(1500 * time.Millisecond) // by then the caller has given up
			c.s.add(name, body, ttl)
		}()
		return 0, c.travel(ctx, true)
	}
	if err := c.travel(ctx, c.happens(c.faults.lostRequest)); err != nil {
		return 0, err
	}
	seq := c.s.add(name, body, ttl)
	if err := c.travel(ctx, c.happens(c.faults.lostReply)); err != nil {
		return 0, err
	}
	return seq, nil
}

func (c *simClient) read(ctx context.Context, name string, from uint64, each func(uint64, int64, []byte)) error {
	if err := c.travel(ctx, false); err != nil {
		return err
	}
	c.s.mu.Lock()
	found := c.s.alive(name)
	c.s.mu.Unlock()
	if len(found) > 0 && c.happens(c.faults.staleRead) { // by a replica that lags behind
		found = found[:len(found)-1]
	}
	if err := c.travel(ctx, false); err != nil {
		return err
	}
	for i, e := range found {
		if i == len(found)/2 && c.happens(c.faults.failedRead) {
			return unavailable(fmt.Errorf("reading broke off"))
		}
		if e.seq >= from {
			each(e.seq, e.stamp, e.body)
		}
	}
	return nil
}

func (c *simClient) last(ctx context.Context, name string) (uint64, error) {
	if err := c.travel(ctx, false); err != nil {
		return 0, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if alive := c.s.alive(name); len(alive) > 0 {
		return alive[len(alive)-1].seq, nil
	}
	return 0, nil
}

func (c *simClient) now(ctx context.Context) (int64, error) {
	if err := c.travel(ctx, false); err != nil {
		return 0, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.now(), nil
}

func (c *simClient) follow(name string, hear func(uint64, int64, uint64, []byte)) (func(), error) {
	f := &simFeed{c: c, queue: make(chan func(), 10_000), gone: make(chan struct{})}
	c.mu.Lock()
	c.hears[f] = hear
	c.mu.Unlock()
	c.s.mu.Lock()
	c.s.feeds[f] = name
	c.s.mu.Unlock()
	go func() {
		for {
			select {
			case deliver := <-f.queue:
				deliver()
			case <-f.gone:
				return
			}
		}
	}()
	return func() {
		c.s.mu.Lock()
		delete(c.s.feeds, f)
		c.s.mu.Unlock()
		c.mu.Lock()
		delete(c.hears, f)
		c.mu.Unlock()
		close(f.gone)
	}, nil
}

func (c *simClient) admit(ctx context.Context, q kvcache.Quota, tokens int64, patience time.Duration) (kvcache.Admission, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.book.admit(ctx, simKey, kvcache.Ask{Quota: q, Tokens: tokens, Waiter: c.waiter()})
}
