package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A lane is the consumer of one tenant's chunks. Lanes are made when they are
// needed and removed by the server when nobody has used them for a while.

const (
	// LaneIdle is after how long without a pull, and without a message that is
	// out or was put back, the server removes a lane. Making it again takes
	// milliseconds.
	LaneIdle = time.Minute
	// LaneIdleCrowded is the same where there are many: every lane makes every
	// acknowledgement in its stream a little slower.
	LaneIdleCrowded = time.Second
	// LaneIdleReplicated is the same where there are many that each have copies on
	// several servers: there, making one costs far more than keeping it.
	LaneIdleReplicated = 20 * time.Second

	// laneWaiting bounds the pulls that wait at one lane. They do not wait, so
	// that this is only met by as many workers asking in the same instant.
	laneWaiting = 8192

	codeFilterOverlap jetstream.ErrorCode = 10100 // consumers of a work queue must not share subjects
)

// ChunkToken returns the tenant's token of a chunk's subject, or of the signal
// that one has arrived, whether or not it decodes.
func (n Names) ChunkToken(subject string) (token string, ok bool) {
	for _, kind := range []string{kindChunks, kindArrived} {
		if token, ok = strings.CutPrefix(subject, n.ns+"."+kind+"."); ok {
			return token, token != "" && !strings.Contains(token, ".")
		}
	}
	return "", false
}

// Arrived is the subject that says, to whoever listens at the moment, that a
// chunk for the tenant's token can be had. Its messages have no body.
func (n Names) Arrived(token string) string { return n.subject(kindArrived, token) }

// ArrivedFilter matches the signals of all tenants.
func (n Names) ArrivedFilter() string { return n.subject(kindArrived, "*") }

const kindArrived = "arrived"

// lanePrefix begins the name of every lane.
func (n Names) lanePrefix() string { return n.bucket(kindChunks) + "_" }

// LaneSubject is what a tenant's lane holds.
func (n Names) LaneSubject(token string) string { return n.subject(kindChunks, token) }

// Lane names the consumer for the chunks of a tenant's token. Tokens that
// cannot be part of a name, or are too long for one, are hashed; "==" begins no
// other token.
func (n Names) Lane(token string) string {
	if isPlain(strings.TrimPrefix(token, "=")) {
		return n.lanePrefix() + token
	}
	sum := sha256.Sum256([]byte(token))
	return n.lanePrefix() + "==" + hex.EncodeToString(sum[:16])
}

// LaneConfig is the shape in which a lane is created.
func (n Names) LaneConfig(token string, ackWait, idle time.Duration) jetstream.ConsumerConfig {
	c := queueConsumer(n.Lane(token), n.LaneSubject(token), ackWait)
	c.Description = "Weirkeeper: chunks of one tenant"
	c.MaxWaiting = laneWaiting
	c.InactiveThreshold = idle
	// Kept in files, every lane in use has a file written anew ten times a
	// second. What memory loses when the server restarts is which messages are
	// out and when the others are due: they are all delivered again at once.
	c.MemoryStorage = true
	return c
}

// EnsureLane returns the lane of a token, made if it is missing. Errors are as
// for [EnsureConsumer]; a consumer that is in the way is named.
func EnsureLane(ctx context.Context, js jetstream.JetStream, n Names, token string, ackWait, idle time.Duration) (jetstream.Consumer, error) {
	want := n.LaneConfig(token, ackWait, idle)
	object := fmt.Sprintf("consumer %s of stream %s", want.Durable, n.ChunkStream())
	rctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	lane, err := js.CreateConsumer(rctx, n.ChunkStream(), want)
	if errors.Is(err, jetstream.ErrConsumerExists) { // with other times, which stay
		lane, err = js.Consumer(rctx, n.ChunkStream(), want.Durable)
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeFilterOverlap {
		if other := findOverlap(rctx, js, n, want.FilterSubject); other != nil {
			return nil, other
		}
		return nil, &SharedInUseError{Consumer: n.ChunkConsumer()}
	}
	if err != nil {
		return nil, accessError(js, object, "CONSUMER.CREATE."+n.ChunkStream()+"."+want.Durable+"."+want.FilterSubject, err)
	}
	if err := checkConsumer(object, want, lane.CachedInfo().Config); err != nil {
		return nil, err
	}
	return lane, nil
}

// findOverlap looks for the consumer that is in the way of a lane with that
// filter, other than the one that [RetireShared] judges.
func findOverlap(ctx context.Context, js jetstream.JetStream, n Names, filter string) error {
	stream, err := js.Stream(ctx, n.ChunkStream())
	if err != nil {
		return nil
	}
	names := stream.ConsumerNames(ctx)
	var found error
	for name := range names.Name() {
		if found != nil || name == n.ChunkConsumer() || strings.HasPrefix(name, n.lanePrefix()) {
			continue // read on to the end, or the lister would stay
		}
		other, err := stream.Consumer(ctx, name)
		if err != nil {
			continue
		}
		if filters, overlap := overlaps(other.CachedInfo().Config, filter); overlap {
			found = &MismatchError{fmt.Sprintf("consumer %s of stream %s", name, n.ChunkStream()), "filter_subject",
				"none of " + filter + " (work queues have one consumer per subject)", filters}
		}
	}
	return found
}

// overlaps reports whether the consumer would get any message of the filter.
func overlaps(c jetstream.ConsumerConfig, filter string) (filters string, overlap bool) {
	all := c.FilterSubjects
	if c.FilterSubject != "" {
		all = append(all, c.FilterSubject)
	}
	for _, f := range all {
		if covers(f, filter) || covers(filter, f) {
			return f, true
		}
	}
	return "every subject", len(all) == 0
}

// SharedInUseError: the consumer that earlier versions shared is still pulled
// from, and stands in the way of lanes. Stop those workers; then it goes by
// itself.
type SharedInUseError struct {
	Consumer string
	Pulls    int // waiting
	InHand   int // delivered and not settled, or waiting for another turn
}

func (e *SharedInUseError) Error() string {
	return fmt.Sprintf("consumer %s of an earlier version is in use (%d pulls waiting, %d messages out): stop the workers of that version", e.Consumer, e.Pulls, e.InHand)
}

// Shared is what was seen of the consumer of an earlier version.
type Shared struct {
	seen      uint64
	acked     uint64
	unchanged time.Time // since when
}

// RetireShared removes the consumer that all workers of earlier versions shared,
// once nobody uses it: no pull waits there, and what was delivered is settled
// or was left alone for longer than its AckWait. Until then the error is a
// [*SharedInUseError]. A consumer of that name that is not such a one, or any
// other that takes all tenants' chunks, is a [*MismatchError] and is not
// touched. before is kept between calls.
func RetireShared(ctx context.Context, js jetstream.JetStream, n Names, before *Shared, now time.Time) (retired bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	name := n.ChunkConsumer()
	shared, err := js.Consumer(ctx, n.ChunkStream(), name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return false, nil
	}
	if err != nil {
		return false, accessError(js, "consumer "+name, "CONSUMER.INFO."+n.ChunkStream()+"."+name, err)
	}
	info := shared.CachedInfo()
	if info.Config.Description != sharedDescription || info.Config.FilterSubject != n.ChunkFilter() {
		if filters, overlap := overlaps(info.Config, n.ChunkFilter()); overlap {
			return false, &MismatchError{fmt.Sprintf("consumer %s of stream %s", name, n.ChunkStream()), "filter_subject",
				"none of " + n.ChunkFilter() + " (workers have a consumer per tenant)", filters}
		}
		return false, nil
	}
	if before.unchanged.IsZero() || before.seen != info.Delivered.Consumer || before.acked != info.AckFloor.Consumer || info.NumWaiting > 0 {
		*before = Shared{info.Delivered.Consumer, info.AckFloor.Consumer, now}
	}
	left := now.Sub(before.unchanged) > max(info.Config.AckWait, time.Second)
	if info.NumWaiting > 0 || info.NumAckPending > 0 && !left {
		return false, &SharedInUseError{name, info.NumWaiting, info.NumAckPending}
	}
	err = js.DeleteConsumer(ctx, n.ChunkStream(), name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return false, nil
	}
	return err == nil, err
}

// CheckLanes looks for consumers that would take all tenants' chunks and are
// not ours to remove: a [*MismatchError] names the first.
func CheckLanes(ctx context.Context, js jetstream.JetStream, n Names) error {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, n.ChunkStream())
	if err != nil {
		return accessError(js, "stream "+n.ChunkStream(), "STREAM.INFO."+n.ChunkStream(), err)
	}
	if stream.CachedInfo().State.Consumers == 0 {
		return nil
	}
	// Any tenant would do: what is looked for takes all of them.
	return findOverlap(ctx, js, n, n.LaneSubject("=="))
}
