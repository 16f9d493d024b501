// Package greed decides how much of an allowance that many processes see at the
// same moment one of them takes at a time.
//
// If each took all of it, most would be refused; if each waits for the same
// instant, all but one are. Greed is the part of the allowance that a process takes, and the
// more of it, the shorter the random time that it waits beyond the instant at which
// there is some again. It is halved by a turn that was refused something and grows
// slowly with every call that was admitted, so that it finds the process's share
// whatever the number of processes, without their knowing of each other.
package greed

import "time"

const (
	first  = 0.25
	least  = 1.0 / 64
	growth = 1.02

	// spreadLeast is the random wait of the greediest; the least greedy waits
	// up to 64 times as long.
	spreadLeast = 10 * time.Millisecond
)

// Greed is that of one process for one allowance. It is not safe for concurrent
// use.
type Greed struct{ part float64 }

// New returns the greed of a process that knows nothing yet.
func New() Greed { return Greed{first} }

// Share is how many of n allowed calls are taken in one turn. A part of a call is
// taken as a whole with that probability, u being uniform in [0,1).
func (g Greed) Share(n int, u float64) int { return int(float64(n)*g.part + u) }

// Spread is how much longer to wait than until the given instant, u being uniform
// in [0,1).
func (g Greed) Spread(u float64) time.Duration {
	return time.Duration(u * float64(spreadLeast) / g.part)
}

// Admitted is told of every call that was admitted.
func (g *Greed) Admitted() { g.part = min(1, g.part*growth) }

// Refused is told once of every turn that was refused something.
func (g *Greed) Refused() { g.part = max(least, g.part/2) }
