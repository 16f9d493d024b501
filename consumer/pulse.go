package consumer

import (
	"context"
	"sync"
	"time"
)

// pulse tells the server every third of the ack wait that a message is being
// worked on, and notices when that did not reach it in time: because the process
// was stopped by the operating system, or cut off from the server. Then the message
// is lost: the server has given it to somebody else, or will.
type pulse struct {
	ackWait time.Duration
	// beat sends an in-progress ack, and reports whether there was a connection to
	// send it on.
	beat func() bool

	mu      sync.Mutex
	next    *time.Timer
	heard   time.Time // by the server, last
	gone    bool
	stopped bool
}

func (d delivery) keepAlive(ackWait time.Duration, connected func() bool) *pulse {
	return newPulse(ackWait, func() bool { return connected() && d.msg.InProgress() == nil })
}

func newPulse(ackWait time.Duration, beat func() bool) *pulse {
	p := &pulse{ackWait: ackWait, beat: beat, heard: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = time.AfterFunc(ackWait/3, p.tick)
	return p
}

func (p *pulse) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || p.late() {
		return // another's message must not be kept alive
	}
	if p.beat() {
		p.heard = time.Now()
	}
	p.next.Reset(p.ackWait / 3)
}

// lost reports whether the server has not heard of the message for longer than the
// ack wait. It looks at the clock itself: after the process was stopped nobody knows
// which of its timers is served first.
func (p *pulse) lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late()
}

// late is lost for those who hold the lock.
func (p *pulse) late() bool {
	p.gone = p.gone || time.Since(p.heard) > p.ackWait
	return p.gone
}

// stop ends the beats and waits for one under way: an in-progress ack that came after a
// Nak would undo its delay.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.next.Stop()
}

type pulseKey struct{}

// Lost reports whether the chunk that ctx belongs to has gone to another worker,
// because this one was not heard of for longer than the chunk's ack wait. A call that
// has failed meanwhile says nothing about its server: the time went by here. Return
// [ErrLost] instead. It is false for any other ctx.
func Lost(ctx context.Context) bool {
	p, ok := ctx.Value(pulseKey{}).(*pulse)
	return ok && p.lost()
}
