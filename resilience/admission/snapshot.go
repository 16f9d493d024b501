package admission

import "slices"

// Snapshot is what a controller looks like at one instant. It never carries a
// payload, a header, a key, a prompt or a response.
type Snapshot struct {
	Queued            int    `json:"queued"`
	Active            int    `json:"active"`
	AvailableRequests *int64 `json:"available_requests"` // null: unlimited
	AvailableTokens   *int64 `json:"available_tokens"`
	QueueCapacity     int    `json:"queue_capacity"`
	ConcurrencyLimit  *int64 `json:"concurrency_limit"`
	Closed            bool   `json:"closed"`
}

// Snapshot returns the controller's state. Queued counts the calls that hold a
// place in the queue, Active those that have been admitted and are not yet over.
func (c *Controller) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh(c.cfg.now())
	s := Snapshot{
		Queued:           min(len(c.line), c.cfg.queueCapacity),
		Active:           int(c.active),
		QueueCapacity:    c.cfg.queueCapacity,
		ConcurrencyLimit: c.cfg.concurrency,
		Closed:           c.ctx.Err() != nil,
	}
	if c.cfg.requests != nil {
		s.AvailableRequests = new(c.requests)
	}
	if c.cfg.tokens != nil {
		s.AvailableTokens = new(c.tokens)
	}
	return s
}

// Owned returns the calls that are queued or active, in no particular order.
func (c *Controller) Owned() []*Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(c.owned.all())
}
