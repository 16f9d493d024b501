package extraction

import (
	"context"
	"sync"
)

// mostChoices is how many documents a pipeline remembers the domain of.
const mostChoices = 1024

// choices remembers the domains of the last documents, so that the chunks of a
// document are read alike, and a document is classified once. Safe for concurrent
// use; the zero value is empty.
type choices struct {
	mu    sync.Mutex
	byKey map[string]*pending
	order []string // oldest first
}

// pending is a choice that is being made, or has been.
type pending struct {
	made   chan struct{} // closed when it is
	choice DomainChoice
	err    error // that of the context of who made it
}

// get returns what is known about a document, or lets make find out. Who comes
// meanwhile waits for that. A choice that is not lasting is made again the next
// time, and so is everything about a document without a name.
func (c *choices) get(ctx context.Context, key string, make func() (choice DomainChoice, lasting bool, err error)) (DomainChoice, error) {
	if key == "" {
		choice, _, err := make()
		return choice, err
	}
	for {
		p, mine := c.enter(key)
		if mine {
			c.make(key, p, make)
			return p.choice, p.err
		}
		select {
		case <-p.made:
			if p.err == nil {
				return p.choice, nil
			} // the one who asked has gone: it is somebody else's turn
		case <-ctx.Done():
			return DomainChoice{}, ctx.Err()
		}
	}
}

// make fills p, also if find panics.
func (c *choices) make(key string, p *pending, find func() (DomainChoice, bool, error)) {
	lasting := false
	p.err = context.Canceled
	defer func() {
		if !lasting {
			c.forget(key, p)
		}
		close(p.made)
	}()
	p.choice, lasting, p.err = find()
}

// enter returns the choice about a document, and whether it is the caller's to
// make.
func (c *choices) enter(key string) (p *pending, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.byKey[key]; p != nil {
		return p, false
	}
	if c.byKey == nil {
		c.byKey = map[string]*pending{}
	}
	if len(c.order) == mostChoices {
		delete(c.byKey, c.order[0])
		c.order = c.order[1:]
	}
	p = &pending{made: make(chan struct{})}
	c.byKey[key] = p
	c.order = append(c.order, key)
	return p, true
}

func (c *choices) forget(key string, p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != p {
		return
	}
	delete(c.byKey, key)
	for i, k := range c.order {
		if k == key {
			c.order = append(c.order[:i], c.order[i+1:]...)
			return
		}
	}
}

// documentKey names a version of a tenant's document; empty if it has no name.
func documentKey(tenant string, c Chunk) string {
	if c.DocumentID == "" {
		return ""
	}
	return tenant + "\x00" + c.DocumentID + "\x00" + c.DocumentSHA256
}
