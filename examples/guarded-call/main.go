// Command guarded-call puts a limit, a circuit and retries around calls that have
// nothing to do with models or queues: it gets each URL of its arguments. With
// NATS_URL set, all processes that run it share the limit and the circuit of
// each host; without, this one has its own.
//
//	go run ./examples/guarded-call http://127.0.0.1:8000/v1/models http://127.0.0.1:8000/v1/models
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guarded-call:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, urls []string) error {
	cache, done, err := open(ctx, os.Getenv("NATS_URL"))
	if err != nil {
		return err
	}
	defer done()
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{
		Cache: cache, Limits: resilience.Limits{Requests: 3, Window: 10 * time.Second},
	})
	if err != nil {
		return err
	}
	defer func() { _ = limiter.Close() }()
	guards := map[string]*resilience.Guard{} // one for each host
	for _, target := range urls {
		host, err := hostOf(target)
		if err != nil {
			return err
		}
		if guards[host] == nil {
			breaker, err := newBreaker(cache, host)
			if err != nil {
				return err
			}
			defer func() { _ = breaker.Close() }()
			if guards[host], err = newGuard(breaker, limiter); err != nil {
				return err
			}
		}
		if err := get(ctx, guards[host], host, target); err != nil {
			fmt.Println(target, "-", explain(err))
			continue
		}
		fmt.Println(target, "- ok")
	}
	return nil
}

// open is in memory unless there is a server to share the state on.
func open(ctx context.Context, natsURL string) (kvcache.Cache, func(), error) {
	if natsURL == "" {
		cache := kvcache.NewMemory()
		return cache, func() { _ = cache.Close() }, nil
	}
	nc, err := nats.Connect(natsURL)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	cache, err := natskv.Open(ctx, js, "guarded_call")
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return cache, func() { _ = cache.Close(); nc.Close() }, nil
}

func newBreaker(cache kvcache.Cache, host string) (*resilience.Breaker, error) {
	settings := resilience.DefaultBreakerConfig()
	settings.Cache, settings.Name, settings.FailureThreshold = cache, host, 2
	return resilience.NewBreaker(settings)
}

func newGuard(breaker *resilience.Breaker, limiter *resilience.Limiter) (*resilience.Guard, error) {
	retry := resilience.RetryPolicy{MaxRetries: 1, InitialDelay: 100 * time.Millisecond, Multiplier: 2, MaxDelay: time.Second, Jitter: 0.1}
	return resilience.NewGuard(resilience.GuardConfig{Breaker: breaker, Limiter: limiter, Retry: &retry, Classify: classify})
}

// get is one guarded call.
func get(ctx context.Context, guard *resilience.Guard, host, target string) error {
	return guard.Do(ctx, resilience.Call{Tenant: host, Operation: "GET"}, func(ctx context.Context) (tokens int64, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, errDown
		}
		defer func() { _ = response.Body.Close() }()
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
		switch {
		case response.StatusCode >= 500:
			return 0, errDown
		case response.StatusCode >= 400:
			return 0, errRefused
		}
		return 0, nil
	})
}

var (
	errDown    = errors.New("the server does not answer as it should")
	errRefused = errors.New("the server refused the request")
)

// classify says what an error means: for the circuit, and whether to try again.
func classify(err error) resilience.Class {
	if errors.Is(err, errDown) {
		return resilience.Class{Outcome: resilience.Failure, Retry: true, Reason: err.Error()}
	}
	return resilience.Class{Outcome: resilience.Success} // it answered
}

func explain(err error) string {
	var limited *resilience.RateLimitExceeded
	var open *resilience.CircuitOpen
	switch {
	case errors.As(err, &limited):
		return "over the limit, try again in " + limited.RetryAfter.Round(time.Second).String()
	case errors.As(err, &open):
		return "not tried, the circuit is open: " + open.Reason
	}
	return err.Error()
}

// hostOf makes a circuit's name, which has letters, digits, - and _, of a URL.
func hostOf(target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("not a URL: " + strconv.Quote(target))
	}
	name := []byte(u.Hostname() + "_" + u.Port())
	for i, c := range name {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			name[i] = '_'
		}
	}
	return string(name), nil
}
