package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// bareLoop is the least that turns chunks into results: as many goroutines as
// calls at a time, each fetching one chunk from one consumer for all tenants,
// posting the same prompt, schema and text, reading the answer, publishing a
// result of the same size and acknowledging twice over. There is no limit,
// no circuit, no retry, no grounding, and a chunk that is delivered again is
// asked for again. It works until it is told to stop.
func bareLoop(ctx context.Context, natsURL, modelURL string, concurrency int) error {
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer cancel()
	nc, err := nats.Connect(natsURL)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	names, err := wire.NewNames("")
	if err != nil {
		return err
	}
	consumer, err := js.CreateConsumer(ctx, names.ChunkStream(), jetstream.ConsumerConfig{Durable: "bare", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1})
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}
	var loops sync.WaitGroup
	failed := make(chan error, concurrency)
	for range concurrency {
		loops.Go(func() {
			for ctx.Err() == nil {
				if err := one(ctx, js, consumer, names, client, modelURL); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	loops.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model          string         `json:"model"`
	Messages       []message      `json:"messages"`
	MaxTokens      int            `json:"max_tokens"`
	Temperature    float64        `json:"temperature"`
	ResponseFormat map[string]any `json:"response_format"`
}

// padding is what a worker's result has more, such as ids, offsets and the text around quotes.
var padding = strings.Repeat("x", 860)

func one(ctx context.Context, js jetstream.JetStream, consumer jetstream.Consumer, names wire.Names, client *http.Client, modelURL string) error {
	msg, err := consumer.Next(jetstream.FetchMaxWait(time.Second))
	if errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) {
		return nil
	}
	if err != nil {
		return err
	}
	chunk, err := wire.DecodeChunk(msg.Data())
	if err != nil {
		return err
	}
	tenant, err := names.Tenant(msg.Subject())
	if err != nil {
		return err
	}
	schema := extraction.AnswerSchema()
	body, err := json.Marshal(request{
		Model: "zero", MaxTokens: 8192, Messages: []message{{"system", extraction.SystemPrompt}, {"user", chunk.Text}},
		ResponseFormat: map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": schema.Name, "schema": schema.JSON, "strict": true}},
	})
	if err != nil {
		return err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, modelURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := client.Do(post)
	if err != nil {
		return err
	}
	answered, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return err
	}
	var completion struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answered, &completion); err != nil || len(completion.Choices) == 0 {
		return fmt.Errorf("no completion: %w", err)
	}
	var found struct {
		Entities, Relationships []map[string]any
	}
	if err := json.Unmarshal([]byte(completion.Choices[0].Message.Content), &found); err != nil {
		return err
	}
	result, err := json.Marshal(map[string]any{
		"schema_version": 1, "tenant_id": tenant, "document_id": chunk.DocumentID, "chunk_id": chunk.ChunkID, "index": chunk.Index, "total": chunk.Total,
		"status": "ok", "model": "openai/zero", "entities": found.Entities, "relationships": found.Relationships, "finished_at": time.Now(),
		"padding": padding,
	})
	if err != nil {
		return err
	}
	if _, err := js.Publish(ctx, names.ResultSubject(tenant, chunk.DocumentID, chunk.Index), result); err != nil {
		return err
	}
	return msg.DoubleAck(ctx)
}
