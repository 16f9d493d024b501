package natskv

import (
	"math"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// markerTTL is how long a key that is gone keeps its version.
const markerTTL = 15 * time.Minute

// endless is the deadline of what has none, in Unix nanoseconds of the server.
const endless int64 = math.MaxInt64

// cell is the last message of a key.
type cell struct {
	value    string
	seq      uint64
	present  bool  // not a marker of something deleted
	deadline int64 // by the server's clock
}

// alive reports whether there is a value at the server's time now.
func (c cell) alive(now int64) bool { return c.present && now < c.deadline }

func newCell(h nats.Header, data []byte, seq uint64, stamp int64) cell {
	c := cell{value: string(data), seq: seq, deadline: deadlineOf(h, stamp)}
	switch op := h.Get(headerOp); {
	case op == opPurge, op == opDelete, h.Get(headerMarker) != "":
		c.value, c.deadline = "", endless
	default:
		c.present = true
	}
	return c
}

// Deadline is when a value that was stored with these headers ends, by the server's
// clock, for who reads the bucket itself; ok is false if it has no end.
func Deadline(h nats.Header, stored time.Time) (at time.Time, ok bool) {
	deadline := deadlineOf(h, stored.UnixNano())
	if deadline == endless {
		return time.Time{}, false
	}
	return time.Unix(0, deadline).UTC(), true
}

// deadlineOf reads when a message that was stored at stamp ends. A header that
// makes no sense counts for nothing, so that a value is rather kept too long
// than lost.
func deadlineOf(h nats.Header, stamp int64) int64 {
	if v := h.Get(headerExpires); v != "" {
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UnixNano()
		}
	}
	if v := h.Get(headerLives); v != "" {
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			return after(stamp, d)
		}
	}
	v := h.Get(headerTTL)
	if seconds, err := strconv.ParseInt(v, 10, 64); err == nil && seconds > 0 && seconds <= int64(longestTTL/time.Second) {
		return after(stamp, time.Duration(seconds)*time.Second)
	}
	if d, err := time.ParseDuration(v); err == nil && d >= time.Second {
		return after(stamp, d.Truncate(time.Second))
	}
	return endless
}

func after(stamp int64, d time.Duration) int64 {
	if stamp > endless-int64(d) {
		return endless
	}
	return stamp + int64(d)
}

// longestTTL is the longest that the server is asked to collect. What lives
// longer is never collected, and never seen after its deadline.
const longestTTL = 10 * 365 * 24 * time.Hour

// collect asks the server to drop the message some time after ttl. A time to
// live below a second would be refused, and the rest of one is cut off.
func collect(h nats.Header, ttl time.Duration) {
	if ttl <= longestTTL {
		seconds := max(1, (ttl+time.Second-1)/time.Second)
		h[headerTTL] = []string{strconv.FormatInt(int64(seconds), 10)}
	}
}

// lives gives a message a ttl that counts from its time stamp; 0 is none.
func lives(h nats.Header, ttl time.Duration) {
	if ttl > 0 {
		h[headerLives] = []string{ttl.String()}
		collect(h, ttl)
	}
}

// expires gives a message a deadline that is already known.
func expires(h nats.Header, deadline, now int64) {
	if deadline != endless {
		h[headerExpires] = []string{time.Unix(0, deadline).UTC().Format(time.RFC3339Nano)}
		collect(h, time.Duration(deadline-now))
	}
}

// alone makes a message that will end take the place of the older revisions
// that a bucket may keep, or the one before it would come to light when the
// server collects it.
func (c *Cache) alone(h nats.Header) {
	if c.revisions.Load() && h.Get(headerTTL) != "" {
		h[headerRollup] = []string{rollupSubject}
	}
}

// isPurge makes a message the marker of a deleted key, after which nothing older
// can come to light again.
func isPurge(h nats.Header) {
	h[headerOp] = []string{opPurge}
	h[headerRollup] = []string{rollupSubject}
	collect(h, markerTTL)
}

// expect makes the server refuse a message if the key has changed since seq.
func expect(h nats.Header, seq uint64) {
	h[headerExpected] = []string{strconv.FormatUint(seq, 10)}
}

func (c *Cache) message(name, value string) *nats.Msg {
	return &nats.Msg{Subject: c.put + name, Header: make(nats.Header, 4), Data: []byte(value)}
}
