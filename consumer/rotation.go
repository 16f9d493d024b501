package consumer

import (
	"hash/fnv"
	"time"
)

// Of many lanes with work, rotationSize take turns for rotationTime, then others
// do: a server with many lanes is slow, and one that is not pulled from for a
// while is gone. That only helps if all workers pull from the same lanes at the same
// time, or a fleet would have as many lanes as it has workers times
// rotationSize. They do without speaking to each other: every lane has a place
// on a circle that follows from its token, and the place where the workers begin follows
// from the time of day. Clocks that differ cost nothing but more lanes.
const (
	rotationSize = 64
	rotationTime = time.Second

	// places divide the circle. Lanes that share one go in the order in which they
	// came to wait.
	places = 1 << 10
)

// circle holds the lanes that wait to enter the rotation.
type circle struct {
	at [places][]*lane
	n  int
}

// place is where on the circle a token stands. The product spreads tokens that
// differ only in their last letters.
func place(token string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(token)) // never fails
	return int(h.Sum64() * 0x9e3779b97f4a7c15 >> 54)
}

// start is where the workers begin at a time. From one rotation to the next it
// moves by the golden section of the circle, so that a few rotations have begun
// everywhere, and each further one begins where none did for the longest time.
func start(now time.Time) int {
	const golden = 633 // of 1024 places
	rotation := now.UnixNano() / int64(rotationTime)
	return int(rotation % places * golden % places)
}

func (c *circle) add(l *lane) {
	p := place(l.token)
	c.at[p] = append(c.at[p], l)
	c.n++
}

// take removes the next lane from the place where the workers begin, or nil.
func (c *circle) take(now time.Time) *lane {
	if c.n == 0 {
		return nil
	}
	for p := start(now); ; p = (p + 1) % places {
		if waiting := c.at[p]; len(waiting) > 0 {
			l := waiting[0]
			waiting[0], c.at[p] = nil, waiting[1:]
			c.n--
			return l
		}
	}
}
