// Package greed decides how much of an allowance that many processes see at the
// same moment one of them takes at a time.
//
// If each took all of it, most would be refused; if each waits for the same
// instant, all but one are. Greed is the part of the allowance that a process takes, and the
// more of it, the shorter the random time that it waits beyond the instant at which
// there is some again. It follows from the number of processes, so that it is right
// from the first turn on: a third of the allowance, divided by the square root of
// their number. That number is approximate, and not everybody has slots free, so a
// process corrects it by what it sees, to half or twice as much: it takes less
// after a turn that was refused something, and slowly more with every call that
// was admitted. docs/scale.md has what comes of it.
package greed

import (
	"math"
	"time"
)

const (
	ofOne  = 0.35 // the part that a single process takes
	least  = 0.5  // of what follows from the number of processes
	most   = 2
	growth = 1.02

	// spreadLeast is the random wait of one who takes everything; who takes a
	// part of it may wait for as many times longer.
	spreadLeast = 10 * time.Millisecond
)

// Greed is that of one process for one allowance. It is not safe for concurrent
// use.
type Greed struct{ corrected float64 }

// New returns the greed of a process that has seen nothing yet.
func New() Greed { return Greed{1} }

// part is the part of the allowance that one of so many processes takes.
func (g Greed) part(processes int) float64 {
	return g.corrected * ofOne / math.Sqrt(float64(max(processes, 1)))
}

// Share is how many of n allowed calls one of so many processes takes in one turn.
// A part of a call is taken as a whole with that probability, u being uniform in
// [0,1).
func (g Greed) Share(n, processes int, u float64) int {
	return int(float64(n)*g.part(processes) + u)
}

// Spread is how much longer one of so many processes waits than until the given
// instant, u being uniform in [0,1).
func (g Greed) Spread(processes int, u float64) time.Duration {
	return time.Duration(u * float64(spreadLeast) / g.part(processes))
}

// Admitted is told of every call that was admitted.
func (g *Greed) Admitted() { g.corrected = min(most, g.corrected*growth) }

// Refused is told once of every turn that was refused something.
func (g *Greed) Refused() { g.corrected = max(least, g.corrected/2) }
