// Command own-provider is a worker of a fleet that asks no OpenAI-compatible
// server, but a provider of your own: here a list of names that it finds in the
// text. Limit, circuit, retries, grounding, results and dead letters are those of
// any other worker.
//
//	NATS_URL=nats://127.0.0.1:4222 go run ./examples/own-provider
//	publisher publish --tenant acme --wait README.md
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// glossary is the provider: two methods.
type glossary map[string]string // name to type

// Model is recorded with every result.
func (glossary) Model() string { return "example/glossary" }

// Extract answers in the JSON that a model is asked for. An error would be an
// [extraction.ProviderError], whose kind says whether trying again makes sense.
func (g glossary) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	consumer.Admitted(ctx) // limit and circuit have let this call through
	type entity struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Quote string `json:"quote"` // must stand in the text, or it is not kept
	}
	entities := []entity{}
	for name, kind := range g {
		if strings.Contains(req.Text, name) {
			entities = append(entities, entity{name, kind, name})
		}
	}
	content, err := json.Marshal(map[string]any{"entities": entities, "relationships": []any{}})
	return extraction.Completion{Content: string(content), FinishReason: "stop"}, err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "own-provider:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	nc, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	// The same buckets as the fleet's: this worker obeys the same limit and has a
	// circuit of its own name.
	circuits, err := natskv.Open(ctx, js, "weir_circuit")
	if err != nil {
		return err
	}
	defer func() { _ = circuits.Close() }()
	limits, err := natskv.Open(ctx, js, "weir_ratelimit")
	if err != nil {
		return err
	}
	defer func() { _ = limits.Close() }()
	attempts, err := natskv.Open(ctx, js, "weir_attempts")
	if err != nil {
		return err
	}
	defer func() { _ = attempts.Close() }()

	settings := resilience.DefaultBreakerConfig()
	settings.Cache, settings.Name = circuits, "glossary"
	breaker, err := resilience.NewBreaker(settings)
	if err != nil {
		return err
	}
	defer func() { _ = breaker.Close() }()
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{
		Cache: limits, Limits: resilience.Limits{Requests: 60, Window: time.Minute},
	})
	if err != nil {
		return err
	}
	defer func() { _ = limiter.Close() }()
	retry := resilience.DefaultRetryPolicy()
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker, Limiter: limiter, Retry: &retry, Classify: hardened.Classify,
	})
	if err != nil {
		return err
	}

	provider := glossary{"Ada Lovelace": "person", "Charles Babbage": "person", "London": "location", "NATS": "product"}
	pipeline, err := extraction.NewPipeline(hardened.New(provider, guard))
	if err != nil {
		return err
	}
	worker, err := consumer.New(js, pipeline, attempts, consumer.Config{
		Circuit:      settings.Name,
		EnsureStores: ensure(circuits, limits, attempts),
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	return worker.Run(ctx) // until it is told to stop
}

// ensure makes the buckets again if somebody deletes them.
func ensure(caches ...*natskv.Cache) func(context.Context) ([]string, error) {
	return func(ctx context.Context) (created []string, problem error) {
		for _, cache := range caches {
			more, err := cache.Ensure(ctx)
			created, problem = append(created, more...), errors.Join(problem, err)
		}
		return created, problem
	}
}
