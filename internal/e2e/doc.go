// Package e2e holds the tests that run the two commands as real processes
// against a real NATS server and a scripted model server, as a user would.
package e2e
