package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// source asks the server.
type source struct {
	js    jetstream.JetStream
	names wire.Names
}

// stream is how far a stream has come. The zero value is one that was not asked.
type stream struct {
	known   bool
	created time.Time
	last    uint64
	count   uint64
}

// counts are the streams at one moment.
type counts struct {
	results, dead, circuits stream
	waiting, workers        uint64
}

func (s source) count(ctx context.Context) (counts, error) {
	var c counts
	var chunks, workers stream
	for _, ask := range []struct {
		name string
		to   *stream
	}{
		{s.names.ResultStream(), &c.results},
		{s.names.DeadStream(), &c.dead},
		{s.names.ChunkStream(), &chunks},
		{"KV_" + s.names.WorkersBucket(), &workers},
		{"KV_" + s.names.CircuitBucket(), &c.circuits},
	} {
		var err error
		if *ask.to, err = s.look(ctx, ask.name); err != nil {
			return counts{}, err
		}
	}
	c.waiting, c.workers = chunks.count, workers.count
	return c, nil
}

// look returns the state of a stream; one that does not exist holds nothing.
func (s source) look(ctx context.Context, name string) (stream, error) {
	handle, err := s.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return stream{known: true}, nil
	}
	if err != nil {
		return stream{}, fmt.Errorf("stream %s: %w", name, err)
	}
	info := handle.CachedInfo()
	return stream{true, info.Created, info.State.LastSeq, info.State.Msgs}, nil
}

// newest says of a result how long it took and how old its chunk was. What it does
// not tell is nil.
func (s source) newest(ctx context.Context, sequence uint64) (took, age *int64, err error) {
	handle, err := s.js.Stream(ctx, s.names.ResultStream())
	if err != nil {
		return nil, nil, fmt.Errorf("newest result: %w", err)
	}
	msg, err := handle.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("newest result: %w", err)
	}
	var result struct {
		StartedAt  time.Time `json:"started_at"`
		FinishedAt time.Time `json:"finished_at"`
	}
	if json.Unmarshal(msg.Data, &result) == nil && !result.StartedAt.IsZero() {
		took = milliseconds(result.FinishedAt.Sub(result.StartedAt))
	}
	if origin, err := time.Parse(time.RFC3339Nano, msg.Header.Get(wire.HeaderOriginTime)); err == nil {
		age = milliseconds(msg.Time.Sub(origin))
	}
	return took, age, nil
}

// milliseconds drops what no chunk takes: clocks differ, and anybody may write.
func milliseconds(d time.Duration) *int64 {
	if d < 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// circuitState is what the bucket says of a circuit.
type circuitState struct{ name, state, reason string }

// circuitStates reads the states of the first [maxCircuits] circuits. One that was
// deleted is closed.
func (s source) circuitStates(ctx context.Context) ([]circuitState, error) {
	const field = ".state"
	prefix := "$KV." + s.names.CircuitBucket() + "."
	handle, err := s.js.Stream(ctx, "KV_"+s.names.CircuitBucket())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("circuits: %w", err)
	}
	info, err := handle.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"+field))
	if err != nil {
		return nil, fmt.Errorf("circuits: %w", err)
	}
	var names []string
	for subject := range info.State.Subjects {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(subject, prefix), field))
	}
	slices.Sort(names)
	var states []circuitState
	for _, name := range names[:min(len(names), maxCircuits)] {
		c := circuitState{name: name, state: "closed"}
		value, err := s.value(ctx, handle, prefix+name+field)
		if err != nil {
			return nil, err
		}
		if value == "open" || value == "half_open" {
			c.state = value
		}
		if c.state == "open" {
			if c.reason, err = s.value(ctx, handle, prefix+name+".reason"); err != nil {
				return nil, err
			}
		}
		states = append(states, c)
	}
	return states, nil
}

// value is the text of a key, "" if it has none.
func (s source) value(ctx context.Context, handle jetstream.Stream, subject string) (string, error) {
	msg, err := handle.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("circuits: %w", err)
	case msg.Header.Get("KV-Operation") != "" || msg.Header.Get("Nats-Marker-Reason") != "":
		return "", nil
	}
	return string(msg.Data), nil
}
