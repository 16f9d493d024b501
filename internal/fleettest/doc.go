// Package fleettest proves what a circuit promises to a whole fleet, with real
// processes on one JetStream server. It holds tests only.
package fleettest
