//go:build race

package resilience_test

// raceEnabled: the race detector makes allocations of its own.
const raceEnabled = true
