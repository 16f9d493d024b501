package consumer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Extractor turns one chunk into knowledge. Implementations must be safe for
// concurrent use and return when ctx ends.
type Extractor interface {
	Extract(ctx context.Context, tenant string, c extraction.Chunk) (extraction.Extraction, error)
}

// Config says how a worker works. Fields left at zero have the default that is
// named beside them.
type Config struct {
	// Namespace is what the names of streams, subjects and buckets begin with.
	// Fleets with different ones do not meet. Defaults to "weir".
	Namespace string
	// Replicas is on how many servers of a cluster streams and buckets are kept that
	// the worker has to make. Defaults to 1.
	Replicas int
	// Concurrency is how many chunks are in hand at most. Defaults to 8.
	Concurrency int
	// AckWait is after what silence a message goes to another worker, if this
	// worker creates the consumer; an existing consumer keeps its own. At least
	// one second. Defaults to 30s.
	AckWait time.Duration
	// ChunkDeadline bounds the work on one delivery of a chunk. Defaults to 5m.
	ChunkDeadline time.Duration
	// DrainTimeout is how long chunks in hand may go on when the worker stops.
	// Defaults to 30s; negative is not at all.
	DrainTimeout time.Duration
	// MaxAttempts is how many times a chunk may fail before it is set aside.
	// Defaults to 5.
	MaxAttempts int
	// Backoff is the wait before the next delivery after a failed attempt; its
	// MaxRetries is not used. Defaults to [resilience.DefaultRetryPolicy].
	Backoff resilience.RetryPolicy
	// WorkerName is recorded in results. Defaults to host name and process id.
	WorkerName string
	// Version and Circuit are told to whoever asks for the workers of the fleet.
	Version, Circuit string
	// CircuitSettings are told beside the name of the circuit, so that it is noticed if
	// the workers of one circuit do not agree. What is zero is not told.
	CircuitSettings CircuitSettings
	// Limits of tenants that have none of their own are told to them, too. What is 0,
	// or unlimited, is left out.
	Limits resilience.Limits
	// Gate says what would be refused, so that it is not pulled. Defaults to
	// one that refuses nothing.
	Gate Gate
	// EnsureStores creates what is missing of the stores behind the extractor
	// and the counts, and returns what it has created. It is called every few seconds and
	// after a store did not answer; its error makes the worker not ready. nil
	// is for stores that nobody can delete.
	EnsureStores func(context.Context) (created []string, err error)
	// Splitter cuts raw documents. Defaults to chunks of 3000 runes, overlap 200.
	Splitter *extraction.Splitter
	// Logger hears what happens; document texts are never logged. nil is silent.
	Logger *slog.Logger
	// Observer hears of every message, for metrics and traces. nil is for a worker
	// that nobody watches.
	Observer Observer

	// Clock and Rand (uniform in [0,1)) are for tests; nil is the real thing. The
	// clock dates results and dead letters, and decides nothing: how long something
	// takes or waits is measured by a clock that nobody sets.
	Clock func() time.Time
	Rand  func() float64
}

// CircuitSettings are the settings of a circuit breaker in front of the extractor, as
// [resilience.BreakerConfig] has them.
type CircuitSettings struct {
	FailureThreshold int
	RecoveryTimeout  time.Duration
	HalfOpenMaxCalls int
}

func (c Config) withDefaults() (Config, error) {
	c.Concurrency = cmp.Or(c.Concurrency, 8)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 5)
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.ChunkDeadline = cmp.Or(c.ChunkDeadline, 5*time.Minute)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 30*time.Second)
	c.Backoff = cmp.Or(c.Backoff, resilience.DefaultRetryPolicy())
	if c.WorkerName == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "worker"
		}
		c.WorkerName = host + "-" + strconv.Itoa(os.Getpid())
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Gate == nil {
		c.Gate = openGate{}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.Splitter == nil {
		s, err := extraction.NewSplitter(extraction.DefaultChunkSize, extraction.DefaultChunkOverlap)
		if err != nil {
			return c, err
		}
		c.Splitter = s
	}
	switch {
	case c.Concurrency < 1:
		return c, &ConfigError{"Concurrency", fmt.Sprintf("must be positive, not %d", c.Concurrency)}
	case c.MaxAttempts < 1:
		return c, &ConfigError{"MaxAttempts", fmt.Sprintf("must be positive, not %d", c.MaxAttempts)}
	case c.AckWait < time.Second:
		return c, &ConfigError{"AckWait", fmt.Sprintf("must be at least 1s, not %v", c.AckWait)}
	case c.ChunkDeadline < 0:
		return c, &ConfigError{"ChunkDeadline", fmt.Sprintf("must be positive, not %v", c.ChunkDeadline)}
	}
	if err := c.Backoff.Validate(); err != nil {
		return c, &ConfigError{"Backoff", err.Error()}
	}
	return c, nil
}
