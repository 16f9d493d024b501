package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names of docs/wire.md: what is checked here is what other clients see.
const (
	streamChunks  = "WEIR_CHUNKS"
	streamResults = "WEIR_RESULTS"
	streamDead    = "WEIR_DEAD"
	bucketCircuit = "weir_circuit"
	keyState      = "default.state"
)

// client speaks to the fleet as any NATS client would.
type client struct {
	nc *nats.Conn
	js jetstream.JetStream
	// What consumers that may be gone have delivered, by name and birth.
	delivered map[string]uint64
}

func connect(url string) (*client, error) {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &client{nc, js, map[string]uint64{}}, nil
}

func (c *client) close() { c.nc.Close() }

// asking bounds a single question to the server.
func asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*time.Second)
}

func (c *client) exists(ctx context.Context, stream string) bool {
	ctx, cancel := asking(ctx)
	defer cancel()
	_, err := c.js.Stream(ctx, stream)
	return err == nil
}

// state of a stream; zero if the server does not answer at the moment.
func (c *client) state(ctx context.Context, stream string) jetstream.StreamState {
	ctx, cancel := asking(ctx)
	defer cancel()
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}
	}
	return s.CachedInfo().State
}

// results is how many there are.
func (c *client) results(ctx context.Context) int { return int(c.state(ctx, streamResults).Msgs) }

// circuit is the state that the fleet shows; "" if it shows none.
func (c *client) circuit(ctx context.Context) string {
	ctx, cancel := asking(ctx)
	defer cancel()
	kv, err := c.js.KeyValue(ctx, bucketCircuit)
	if err != nil {
		return ""
	}
	entry, err := kv.Get(ctx, keyState)
	if err != nil {
		return ""
	}
	return string(entry.Value())
}

// text of a chunk; chunkOf reads it back from what a model was asked.
func text(tenant string, i int) string {
	return fmt.Sprintf("Letter %d of %s : Ada Lovelace met Charles Babbage in London.", i, tenant)
}

func chunkOf(text string) (c chunk) {
	var i int
	if _, err := fmt.Sscanf(text, "Letter %d of %s :", &i, &c.tenant); err == nil {
		c.document = document(c.tenant, i)
	}
	return c
}

func document(tenant string, i int) string { return fmt.Sprintf("%s-%d", tenant, i) }

// publish publishes chunks from..from+n-1 of a tenant, and returns them when all are
// stored.
func (c *client) publish(ctx context.Context, tenant string, from, n int) ([]chunk, error) {
	published := make([]chunk, 0, n)
	for i := from; i < from+n; i++ {
		body, err := json.Marshal(map[string]string{"document_id": document(tenant, i), "text": text(tenant, i)})
		if err != nil {
			return nil, err
		}
		if _, err := c.js.PublishAsync("weir.chunks."+tenant, body, jetstream.WithMsgID(document(tenant, i)), jetstream.WithStallWait(time.Minute)); err != nil {
			return nil, err
		}
		published = append(published, chunk{tenant, document(tenant, i)})
	}
	select {
	case <-c.js.PublishAsyncComplete():
		return published, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("publishing chunks: %w", ctx.Err())
	}
}

// deliveries is how often chunks were handed to workers since the start, over all
// consumers. What a consumer did between the last look and its end is not seen.
func (c *client) deliveries(ctx context.Context) (int, error) {
	stream, err := c.js.Stream(ctx, streamChunks)
	if err != nil {
		return 0, err
	}
	lister := stream.ListConsumers(ctx)
	for info := range lister.Info() {
		c.delivered[info.Name+info.Created.String()] = info.Delivered.Consumer
	}
	total := 0
	for _, n := range c.delivered {
		total += int(n)
	}
	return total, lister.Err()
}

func (c *client) outcomes(ctx context.Context) (o outcomes, err error) {
	o.waiting = c.state(ctx, streamChunks).Msgs
	o.resultsStored, err = c.read(ctx, streamResults, func(m *jetstream.RawStreamMsg) error {
		var r struct {
			Tenant   string `json:"tenant_id"`
			Document string `json:"document_id"`

			Started time.Time `json:"started_at"`
		}
		err := json.Unmarshal(m.Data, &r)
		o.results = append(o.results, result{chunk{r.Tenant, r.Document}, r.Started, m.Time})
		return err
	})
	if err != nil {
		return o, err
	}
	if !c.exists(ctx, streamDead) {
		return o, nil // the literal design has none
	}
	o.deadStored, err = c.read(ctx, streamDead, func(m *jetstream.RawStreamMsg) error {
		var body struct {
			Document string `json:"document_id"`
		}
		err := json.Unmarshal(m.Data, &body)
		tenant := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		o.dead = append(o.dead, letter{chunk{tenant, body.Document}, m.Header.Get("Weir-Error-Kind")})
		return err
	})
	return o, err
}

// read hands out all messages of a stream and returns how many it ever took.
func (c *client) read(ctx context.Context, stream string, each func(*jetstream.RawStreamMsg) error) (uint64, error) {
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	state := s.CachedInfo().State
	for next := state.FirstSeq; next <= state.LastSeq && state.Msgs > 0; next++ {
		m, err := s.GetMsg(ctx, next)
		if err != nil {
			continue // replaced since
		}
		if err := each(m); err != nil {
			return 0, fmt.Errorf("%s: message %d: %w", stream, next, err)
		}
	}
	return state.LastSeq, nil
}
