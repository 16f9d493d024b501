package consumer

import "sync"

// crew runs functions on goroutines that it keeps: a chunk's way is deep, and a
// fresh goroutine would have to grow its stack for each anew. It has as many as
// ever ran at a time. It is safe for concurrent use.
type crew struct {
	running sync.WaitGroup

	mu   sync.Mutex
	idle int
	next chan func()
}

func newCrew() *crew { return &crew{next: make(chan func())} }

// start runs f on an idle goroutine, or on one more.
func (c *crew) start(f func()) {
	c.running.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == 0 {
		go c.member(f, c.next)
		return
	}
	c.idle--
	c.next <- f // an idle one is about to take it
}

func (c *crew) member(f func(), next chan func()) {
	for f != nil {
		f()
		kept := c.rest(next)
		c.running.Done()
		if !kept {
			return
		}
		f = <-next
	}
}

// rest counts a goroutine as idle, unless it was dismissed meanwhile.
func (c *crew) rest(next chan func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != next {
		return false
	}
	c.idle++
	return true
}

// wait returns when everything that was started has ended.
func (c *crew) wait() { c.running.Wait() }

// dismiss ends the goroutines, as soon as each is idle.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next, c.idle = make(chan func()), 0
}
