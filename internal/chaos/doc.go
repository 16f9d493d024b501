// Command chaos checks what a fleet promises from outside: it starts a real
// nats-server, real workers and a faulty model server as processes of this machine,
// kills, stops and starves them, and counts.
//
//	go run ./internal/chaos -short          # what CI runs, about a minute
//	go run ./internal/chaos -design both    # the long form, with the literal design beside ours (make chaos)
//	go run ./internal/chaos -run kills,away -seed 7
//	go run ./internal/chaos -run catalogue -answers streamed    # plain, or mixed by default
//
// It speaks NATS and HTTP only, by the names of docs/wire.md: results and dead
// letters are read from their streams, calls are counted at the model server. It
// prints a table and exits with 1 if a promise was broken; then it keeps what
// every process wrote and says where. What it draws at random follows from the
// seed, which it prints.
//
// The literal design is the obvious one: a consumer that all tenants share, a limit
// that is asked for each message in hand, a Nak with the time to wait, a circuit breaker
// in each process, a result that is published before the acknowledgement. It is
// package literal below this one, and there to be compared with, also with our limiter
// (literal+exact) and with a message ID for its results (literal+id). What it does not
// have, such as dead letters, is not among its findings.
package main
