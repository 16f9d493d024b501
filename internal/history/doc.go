// Package history remembers the last hour of a fleet, so that somebody who opens
// the status page sees what came before: how many results and dead letters were
// stored, how much waited, how long chunks took, and what the circuits did.
//
// One process samples the whole fleet's counts; nothing is written anywhere, so
// its memory begins when the process does, and [History.Since] says so. A sample
// costs five small requests (the states of five streams) every ten seconds, four
// more to read what the workers tell if there are new results (of more than 40 workers
// less often), and, if a circuit has changed, three for all circuits. It reads no text
// of documents. An hour takes about 60 kB.
package history
