package consumer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// pullWait is how long the server holds a pull that it has nothing for. It
	// bounds how long a stopping worker waits for the one that is out.
	pullWait         = time.Second
	pullBackoffFirst = 100 * time.Millisecond
	pullBackoffLast  = 5 * time.Second
)

// puller takes messages from one consumer, never more than it has free slots
// for, and hands each to a goroutine.
type puller struct {
	name     string
	pulls    *pulls // set by Run
	slots    slots
	handle   func(context.Context, delivery, time.Duration)
	working  sync.WaitGroup
	inHand   atomic.Int64
	alive    atomic.Bool // the last pull was answered
	consumer atomic.Pointer[jetstream.ConsumerInfo]
}

func newPuller(name string, slots int, handle func(context.Context, delivery, time.Duration)) *puller {
	return &puller{name: name, slots: newSlots(slots), handle: handle}
}

// use sets the consumer to pull from.
func (p *puller) use(c jetstream.Consumer) { p.consumer.Store(c.CachedInfo()) }

// run pulls until ctx ends. Messages are worked on under work, which outlives
// ctx while the worker drains. pulled and failed hear how pulls went.
func (p *puller) run(ctx, work context.Context, u func() float64, pulled func(), failed func(error)) {
	wait := pullBackoffFirst
	for p.slots.wait(ctx) {
		n := 1 + p.slots.take(cap(p.slots))
		got, err := p.pull(ctx, work, n)
		p.slots.give(n - got)
		p.alive.Store(err == nil)
		if err == nil {
			pulled()
			wait = pullBackoffFirst
			continue
		}
		if ctx.Err() != nil {
			return
		}
		failed(fmt.Errorf("pull %s: %w", p.name, err))
		if !sleep(ctx, time.Duration(float64(wait)*(0.5+u()/2))) {
			return
		}
		wait = min(2*wait, pullBackoffLast)
	}
}

// pull asks for up to n messages and starts each as it comes. What comes after
// ctx has ended goes back at once.
func (p *puller) pull(ctx, work context.Context, n int) (got int, err error) {
	consumer := p.consumer.Load()
	ackWait := ackWaitOf(consumer)
	err = p.pulls.pull(consumer, n, pullWait, ackWait, func(msg *nats.Msg) {
		d, err := newDelivery(msg)
		if err != nil {
			_ = msg.Nak()
			return
		}
		if ctx.Err() != nil {
			_ = d.nak(0)
			return
		}
		got++
		p.inHand.Add(1)
		p.working.Go(func() {
			defer p.slots.give(1)
			defer p.inHand.Add(-1)
			p.handle(work, d, ackWait)
		})
	})
	return got, err
}

// sleep waits for d and reports whether ctx is still there.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
