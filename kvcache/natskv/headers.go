package natskv

import (
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// Headers that this package writes.
const (
	headerLives    = "Kvcache-TTL"     // how long a value lives after its time stamp
	headerExpires  = "Kvcache-Expires" // when it ends, in RFC 3339
	headerAt       = "Kvcache-At"      // the caller's instant of a hit, in RFC 3339
	headerTTL      = "Nats-TTL"
	headerOp       = "KV-Operation"
	headerRollup   = "Nats-Rollup"
	headerExpected = "Nats-Expected-Last-Subject-Sequence"

	opPurge       = "PURGE"
	opDelete      = "DEL"
	rollupSubject = "sub"
)

// Headers that the server adds to what it has stored.
const (
	headerSequence    = "Nats-Sequence"
	headerPredecessor = "Nats-Last-Sequence"
	headerStamp       = "Nats-Time-Stamp"
	headerSubject     = "Nats-Subject"
	headerMarker      = "Nats-Marker-Reason"
	headerPending     = "Nats-Num-Pending"
)

// What the server says in place of a message.
const (
	headerStatus       = "Status"
	headerDescription  = "Description"
	statusEnd          = "204"
	statusNone         = "404"
	statusNoResponders = "503"
)

// stamped reads the sequence and the time stamp of a stored message.
func stamped(h nats.Header) (seq uint64, stamp int64, err error) {
	if seq, err = strconv.ParseUint(h.Get(headerSequence), 10, 64); err != nil {
		return 0, 0, err
	}
	at, err := time.Parse(time.RFC3339Nano, h.Get(headerStamp))
	if err != nil {
		return 0, 0, err
	}
	return seq, at.UnixNano(), nil
}

// position is stamped with the sequence of the message before it, of the same subject
// or of the same answer.
func position(h nats.Header) (seq uint64, stamp int64, predecessor uint64, err error) {
	if seq, stamp, err = stamped(h); err != nil {
		return 0, 0, 0, err
	}
	predecessor, err = strconv.ParseUint(h.Get(headerPredecessor), 10, 64)
	return seq, stamp, predecessor, err
}
