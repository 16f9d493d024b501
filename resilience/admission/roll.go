package admission

import "iter"

// roll lists the calls that a controller owns. A call stands in one roll at most.
type roll struct {
	first *Call
	size  int
}

func (r *roll) add(c *Call) {
	c.prev, c.next = nil, r.first
	if r.first != nil {
		r.first.prev = c
	}
	r.first = c
	r.size++
}

// remove takes out c, if it stands in r, and says whether it did.
func (r *roll) remove(c *Call) bool {
	switch {
	case c.prev != nil:
		c.prev.next = c.next
	case r.first == c:
		r.first = c.next
	default:
		return false
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
	r.size--
	return true
}

// all are the calls of r, which must not change meanwhile.
func (r *roll) all() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for c := r.first; c != nil && yield(c); c = c.next {
		}
	}
}
