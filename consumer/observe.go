package consumer

import (
	"context"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Observer hears what becomes of each message in hand, for metrics and traces. It
// must be quick and safe for concurrent use, and it decides nothing: a worker does
// the same without one.
type Observer interface {
	// Took is told of a message that has come in hand. All work on it is done
	// under the context that it returns.
	Took(ctx context.Context, m Message) context.Context

	// Reads is told which chunk the message holds, once that is known.
	Reads(ctx context.Context, c extraction.Chunk)

	// Step is told that a step begins. What is done in it is done under the
	// context that it returns; ended is called when it is over, with its error.
	Step(ctx context.Context, s Step) (inner context.Context, ended func(error))

	// Sends may add headers to a message that comes of the one in hand: a chunk, a
	// result or a dead letter. ctx is that of the step.
	Sends(ctx context.Context, header map[string][]string)

	// Settled is told how it ended, once for each message that was taken.
	Settled(ctx context.Context, s Settlement)
}

// Message is one in hand.
type Message struct {
	Queue    string // "chunks" or "documents"
	Tenant   string // "" if the subject has none
	Subject  string
	Stream   string
	Sequence uint64              // in the stream
	Delivery int                 // 1 for the first
	StoredAt time.Time           // by the server's clock
	Bytes    int                 // of the body
	Header   map[string][]string // not to be changed
}

// ID names the message among all of its stream.
func (m Message) ID() MessageID { return MessageID{m.Stream, m.Sequence, m.StoredAt} }

// MessageID tells messages apart, also after their stream was made anew.
type MessageID struct {
	Stream   string
	Sequence uint64
	StoredAt time.Time
}

// Step is a part of the work on a message.
type Step string

// The steps, in their order. Between the first two and the last ones an extractor does
// its work, which has steps of its own.
const (
	StepFind     Step = "find_result"  // is there a result already?
	StepSplit    Step = "split"        // a document, into messages
	StepSend     Step = "send_chunks"  // of a document, until the stream has them
	StepStore    Step = "store_result" // until the stream has it
	StepSetAside Step = "set_aside"    // the dead letter, until the stream has it
	StepAck      Step = "acknowledge"  // until the server says that it has forgotten the message
	StepPutBack  Step = "put_back"     // for another delivery
)

// Settlement is how a message in hand ended.
type Settlement struct {
	// Outcome is one of [Status].Outcomes.
	Outcome string
	// Done: the message is gone, because what became of it is stored.
	Done bool
	// Delay is after how long it comes back at the earliest, if it was put back.
	PutBack bool
	Delay   time.Duration
	// Dead is the kind of its dead letter, "" if it has none.
	Dead string
	// Attempt: it was counted as a failed attempt, the Attempts-th.
	Attempt  bool
	Attempts int
	// Err is why there is no result; nil if there is one.
	Err error
}

// unobserved is the observer of a worker that has none.
type unobserved struct{}

func (unobserved) Took(ctx context.Context, _ Message) context.Context { return ctx }
func (unobserved) Reads(context.Context, extraction.Chunk)             {}
func (unobserved) Sends(context.Context, map[string][]string)          {}
func (unobserved) Settled(context.Context, Settlement)                 {}
func (unobserved) Step(ctx context.Context, _ Step) (context.Context, func(error)) {
	return ctx, func(error) {}
}
