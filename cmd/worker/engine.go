package main

import (
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/limits"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// engine is a worker with everything that protects the model from it.
type engine struct {
	worker  *consumer.Worker
	breaker *resilience.Breaker
	limiter *resilience.Limiter
	// admission is the line in which this process's model calls stand.
	admission *admission.Controller
	pauses    *pauses.Follower
	unfollow  func() // the operators' buckets
}

// newEngine is the one place where provider, admission, breaker, limiter,
// retry, pipeline and consumer are put together. changed hears of every transition of the
// circuit that this process makes, watch of everything; it may be nil. Errors are mistakes in the flags.
func newEngine(js jetstream.JetStream, names wire.Names, shared stores, provider extraction.Provider, flags engineFlags, config consumer.Config, changed func(resilience.Change), watch *work.Observer) (*engine, error) {
	breaker, err := resilience.NewBreaker(breakerConfig(flags.circuitFlags, shared.circuit, config.Logger, changed))
	if err != nil {
		return nil, cli.Usage(err)
	}
	granted := limits.NewFollower(js, names, flags.limits(), config.Logger)
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: shared.limits, Limits: flags.limits(), LimitsFor: granted.For})
	if err != nil {
		return nil, cli.Usage(err)
	}
	retry := flags.policy()
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker, Limiter: limiter, Retry: &retry, Classify: hardened.Classify, Logger: config.Logger,
	})
	if err != nil {
		return nil, cli.Usage(err)
	}
	line, runner, err := newAdmission(flags.workFlags, config.Logger)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if watch != nil {
		provider = watch.Requests(provider, flags.endpoint())
	}
	protected := hardened.New(admitting{provider}, guard, hardened.WithAdmission(runner))
	if watch != nil {
		protected = watch.Calls(protected)
	}
	chooser, err := flags.chooser(protected)
	if err != nil {
		return nil, cli.Usage(err)
	}
	options, err := flags.options(js, names)
	if err != nil {
		return nil, err
	}
	if watch != nil {
		options = append(options, extraction.WithStages(watch.Stage))
		config.Observer = watch
	}
	pipeline, err := extraction.NewPipeline(protected, append(options, extraction.WithChooser(chooser))...)
	if err != nil {
		return nil, err
	}
	config.Concurrency, config.ChunkDeadline = flags.Concurrency, flags.ChunkDeadline
	config.MaxAttempts, config.Backoff = flags.MaxAttempts, retry
	config.EnsureStores = shared.ensure
	paused := pauses.NewFollower(js, names, config.Logger)
	config.Gate = gate{paused, breaker, limiter, flags.HalfOpenMaxCalls}
	worker, err := consumer.New(js, pausing{pipeline, paused}, shared.attempts, config)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &engine{worker, breaker, limiter, line, paused, followOperators(worker.Recheck, config.Logger, granted, paused)}, nil
}

// newAdmission makes the line of this process: as many calls at a time as there
// are chunks in work. An attempt may take as long as its chunk may, and never
// longer than the model client waits.
func newAdmission(flags workFlags, logger *slog.Logger) (*admission.Controller, *admission.Runner, error) {
	line, err := admission.New(admission.WithConcurrency(int64(flags.Concurrency)), admission.WithQueueCapacity(flags.QueueCapacity))
	if err != nil {
		return nil, nil, err
	}
	runner, err := admission.NewRunner(line,
		admission.WithAttemptCap(min(flags.ChunkDeadline, admission.DefaultAttemptCap)), admission.WithLogger(logger))
	return line, runner, err
}

// close gives back what the engine itself has opened, and nothing that was
// handed to it.
func (e *engine) close() {
	e.unfollow()
	_ = e.admission.Close()
	_ = e.limiter.Close()
	_ = e.breaker.Close()
}

// circuitStaleness spares workers with many short calls most reads of the circuit.
// Calls that take longer than this times the slots of the worker always read.
const circuitStaleness = 20 * time.Millisecond

func breakerConfig(flags circuitFlags, cache kvcache.KeyValue, logger *slog.Logger, changed func(resilience.Change)) resilience.BreakerConfig {
	config := resilience.DefaultBreakerConfig()
	config.Cache, config.Name = cache, flags.Circuit
	config.FailureThreshold, config.RecoveryTimeout, config.HalfOpenMaxCalls = flags.FailureThreshold, flags.RecoveryTimeout, flags.HalfOpenMaxCalls
	config.Logger, config.OnChange, config.MaxStaleness = logger, changed, circuitStaleness
	return config
}

// logChange is what most want to know of a transition.
func logChange(logger *slog.Logger) func(resilience.Change) {
	return func(c resilience.Change) {
		attributes := []any{"circuit", c.Circuit, "from", c.From, "to", c.To}
		if c.Reason != "" {
			attributes = append(attributes, "reason", wire.CleanError(c.Reason))
		}
		logger.Warn("circuit changed", attributes...)
	}
}
