// Package natskv is the Cache port of kvcache on NATS JetStream, so that several
// processes agree.
//
// # Values
//
// [Open] serves values and counters from one JetStream KeyValue bucket, as
// plain text: `nats kv watch` and `nats kv get` show them, and `nats kv put`,
// `nats kv del` and a bucket made by `nats kv add` work. A key made of letters, digits
// and -/_=. is its own name in the bucket. Any other key, and one that is no name of
// a subject, is "=_" and its bytes in unpadded base64url, or their hash where
// that is too long.
//
// A deadline travels in a header and counts by the server's clock, so that a
// ttl of any precision is exact whatever the clocks of the processes say. The
// server's own time to live of a message, in whole seconds, only collects what
// is left over. A message has at most one of
//
//	Kvcache-TTL      how long it lives after its time stamp, as in "300ms"
//	Kvcache-Expires  when it ends, in RFC 3339, by the server's clock
//
// and one that has neither lives as long as its Nats-TTL says.
//
// A version is the sequence of the key's last message. Several keys are swapped by
// an atomic batch, so watchers too see all of them or none. What is deleted or
// has expired leaves a marker for a quarter of an hour: a version that is held
// for longer may be taken for that of a key never written.
//
// A watch is a consumer of the bucket that the server drops a minute after its
// process has gone.
//
// # Hits
//
// Hit series are in a stream beside the bucket, HITS_<bucket>, made when the
// first hit is recorded: one message per hit on $HITS.<bucket>.<key>, with the
// caller's instant in the header Kvcache-At. Each process keeps what it has read
// and asks only for what is new. Over several processes a count may miss hits of
// the last few milliseconds; a [kvcache.Ledger] does not.
//
// # Ledgers
//
// The windows of a [kvcache.Ledger] are in a stream too, LEDGER_<bucket>, made when
// it is first used. It is a log: what a process asks to take from a key's window is
// appended to $LEDGER.<bucket>.<key>, and the order and the time stamps of the
// server decide. The server sends each entry on to $LEDGERFEED.<bucket>.<key>,
// with the sequence of the one before, so whoever follows a key has the same
// log and notices what it has missed. Who appended an entry counts what the window held at
// its stamp and takes back what did not fit. An entry is text, one line for each
// thing that it says:
//
//	take 120       take one request of 120 tokens
//	back 57.0      the first take of entry 57 is given back
//	used 57.1 90   the second take of entry 57 has really used 90 tokens
//	cool 30s       refuse everything for 30 s
//	wait 1x9k 120 1m0s 10 0
//	               1x9k, a hash of a [kvcache.Ask]'s Waiter, was refused 120 tokens
//	               of a window of 1m with 10 requests and any number of tokens, and
//	               gets in line
//
// So the line of those who wait is the same in every process, and each of them has
// an instant of its own. It costs a waiter one line of an entry, shared with whoever
// else of its process has something to say; asking again costs nothing. If that entry
// cannot be written, or the line is full (8,192), the instant is the process's own.
// In the moments in which takes that did not fit are in the log and not yet given back,
// slots come out later than need be, and closer to each other.
//
// No clock but the server's has a say in what is admitted; the local one tells
// when to ask again. A window is counted one percent wider than asked for (at
// most 250 ms): a few admissions may be taken ahead and handed out without asking
// for half of that, and the rest is for calls that arrive sooner or later than
// others after they were admitted. After ErrUnavailable an admission may have been taken although
// nobody was told; it leaves with its window. Callers are told what was refused up
// to a message's delay after it happened elsewhere.
//
// # When somebody deletes it
//
// A long-running process calls [Cache.Ensure] every few seconds, as its example shows:
// nothing does it by itself. It makes again what was deleted, and forgets what this
// process knew of it. The sequences of a stream that is made here begin at the time, in Unix
// microseconds, so that none of a deleted one comes again: what anybody still
// remembers of that is never taken for something new. In the place of a bucket that
// was deleted and made by hand, whose sequences begin at 1, a version from before may
// be, until Ensure was called.
//
// # When the store cannot be reached
//
// Every operation ends within a timeout (default 2 s, see [WithTimeout]), whether
// or not its context has a deadline, and fails with [kvcache.ErrUnavailable].
// If its context ends first the error is also that context's, [context.Canceled] or
// [context.DeadlineExceeded], whatever cause the context was given.
// Until then it waits for the connection and asks again where the server has
// surely not seen the request. What is sent while the connection breaks may or may not
// have been written.
package natskv
