// Package history remembers the last hour of a fleet, so that somebody who opens
// the status page sees what came before: how many results and dead letters were
// stored, how much waited, how long chunks took, and what the circuits did.
//
// One process samples the whole fleet's counts; nothing is written anywhere, so
// its memory begins when the process does, and [History.Since] says so. A sample
// costs five small requests (the states of five streams) every ten seconds, one
// more to read the newest result if there is a new one, and, if a circuit has
// changed, one for each circuit. It reads no text of documents but that of the one
// result, and keeps none. An hour takes about 60 kB.
package history
