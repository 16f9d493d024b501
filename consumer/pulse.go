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
	beat          func() bool
	quit, stopped chan struct{}

	mu    sync.Mutex
	heard time.Time // by the server, last
	gone  bool
}

func (d delivery) keepAlive(ackWait time.Duration, connected func() bool) *pulse {
	return newPulse(ackWait, func() bool { return connected() && d.msg.InProgress() == nil })
}

func newPulse(ackWait time.Duration, beat func() bool) *pulse {
	p := &pulse{ackWait: ackWait, beat: beat, quit: make(chan struct{}), stopped: make(chan struct{}), heard: time.Now()}
	go p.run()
	return p
}

func (p *pulse) run() {
	defer close(p.stopped)
	ticker := time.NewTicker(p.ackWait / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.quit:
			return
		}
		if p.lost() {
			return // another's message must not be kept alive
		}
		if p.beat() {
			p.mu.Lock()
			p.heard = time.Now()
			p.mu.Unlock()
		}
	}
}

// lost reports whether the server has not heard of the message for longer than the
// ack wait. It looks at the clock itself: after the process was stopped nobody knows
// which of its timers is served first.
func (p *pulse) lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = p.gone || time.Since(p.heard) > p.ackWait
	return p.gone
}

// stop ends the beats and waits until they have: an in-progress ack that came after
// a Nak would undo its delay. It is to be called once.
func (p *pulse) stop() {
	close(p.quit)
	<-p.stopped
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
