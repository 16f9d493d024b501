package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Headings of the flags in help, in this order.
var groups = []cli.Group{
	{Key: "model", Title: "Model:"},
	{Key: "domains", Title: "Domains, what is looked for in which kind of document:"},
	{Key: "limits", Title: "Limits, shared by the whole fleet:"},
	{Key: "retry", Title: "Retries within one attempt:"},
	{Key: "circuit", Title: "Circuit breaker, shared by the whole fleet:"},
	{Key: "work", Title: "Work:"},
	{Key: "split", Title: "Splitting documents; the same for all workers of a fleet:"},
	{Key: "nats", Title: "NATS:"},
	{Key: "log", Title: "Operation:"},
}

// limitFlags are the allowance of one tenant.
type limitFlags struct {
	RPM    requests      `name:"rpm" group:"limits" placeholder:"N|unlimited" help:"Model calls that one tenant may make per window: a number, or the word unlimited. worker run requires it with openai."`
	Window time.Duration `group:"limits" default:"60s" help:"Length of the sliding window that --rpm and --tpm count in."`
	TPM    *int64        `name:"tpm" group:"limits" placeholder:"N" help:"Tokens that one tenant may use per window. Default: no limit."`
}

// errWindow: windows are told in milliseconds.
var errWindow = errors.New("--window must be whole milliseconds, and at least one")

func (f limitFlags) check(openai bool) error {
	switch {
	case openai && !f.RPM.given:
		return errors.New("--rpm is required with --provider openai: how many calls per window the model server allows one tenant, or unlimited")
	case f.Window < time.Millisecond || f.Window%time.Millisecond != 0:
		return errWindow
	case f.TPM != nil && *f.TPM < 1:
		return errors.New("--tpm must be positive; leave it out for no limit")
	}
	return nil
}

// limits is what the flags allow; without --rpm everything.
func (f limitFlags) limits() resilience.Limits {
	limits := resilience.Limits{Requests: resilience.Unlimited, Window: f.Window}
	if f.TPM != nil {
		limits.Tokens = *f.TPM
	}
	if f.RPM.given {
		limits.Requests = f.RPM.n
	}
	return limits
}

// requests is a number of requests or "unlimited"; the zero value is neither.
type requests struct {
	n     int64
	given bool
}

// Words are what can be completed.
func (requests) Words() []string { return []string{"unlimited"} }

// UnmarshalText reads the value of a flag.
func (r *requests) UnmarshalText(text []byte) error {
	if string(text) == "unlimited" {
		*r = requests{math.MaxInt64, true}
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("want a number of at least 1, or unlimited, but got %q", text)
	}
	*r = requests{n, true}
	return nil
}

// retryFlags are the policy for repeating one model call.
type retryFlags struct {
	MaxRetries   int           `group:"retry" default:"3" help:"Retries of one model call after a transport error, a timeout or a 5xx."`
	InitialDelay time.Duration `group:"retry" default:"1s" help:"Wait before the first retry."`
	Multiplier   float64       `group:"retry" default:"2" help:"Factor by which the wait grows with every retry."`
	MaxDelay     time.Duration `group:"retry" default:"60s" help:"Longest wait."`
	Jitter       float64       `group:"retry" default:"0.1" help:"Share by which a wait is varied at random, 0 to 1."`
}

func (f retryFlags) policy() resilience.RetryPolicy {
	return resilience.RetryPolicy{
		MaxRetries: f.MaxRetries, InitialDelay: f.InitialDelay, Multiplier: f.Multiplier, MaxDelay: f.MaxDelay, Jitter: f.Jitter,
	}
}

func (f retryFlags) check() error {
	switch {
	case f.MaxRetries < 0:
		return errors.New("--max-retries must not be negative")
	case f.InitialDelay < 0:
		return errors.New("--initial-delay must not be negative")
	case !(f.Multiplier >= 1) || math.IsInf(f.Multiplier, 0):
		return errors.New("--multiplier must be at least 1")
	case f.MaxDelay < 0:
		return errors.New("--max-delay must not be negative")
	case !(f.Jitter >= 0 && f.Jitter <= 1):
		return errors.New("--jitter must be 0 to 1")
	}
	return nil
}

// circuitFlags are the breaker in front of the model server.
type circuitFlags struct {
	Circuit          string        `group:"circuit" default:"default" placeholder:"NAME" help:"Name of the circuit: one per model server. Workers with the same name share it. Letters, digits, - and _."`
	FailureThreshold int           `group:"circuit" default:"5" help:"Failed calls, each after its retries, that open the circuit."`
	RecoveryTimeout  time.Duration `group:"circuit" default:"60s" help:"How long the circuit stays open before it lets a probe through."`
	HalfOpenMaxCalls int           `group:"circuit" default:"1" help:"Probes at a time while it is half open."`
}

// plainCircuit keeps the keys of a circuit plain: who watches <circuit>.state has to
// find it by that name.
var plainCircuit = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func (f circuitFlags) check() error {
	switch {
	case !plainCircuit.MatchString(f.Circuit):
		return fmt.Errorf("--circuit must be 1 to 128 letters, digits, - or _, not %q", f.Circuit)
	case f.FailureThreshold < 1:
		return errors.New("--failure-threshold must be positive")
	case f.RecoveryTimeout <= 0:
		return errors.New("--recovery-timeout must be positive")
	case f.HalfOpenMaxCalls < 1:
		return errors.New("--half-open-max-calls must be positive")
	}
	return nil
}

// workFlags are how much a worker does at a time and how long it may take.
type workFlags struct {
	Concurrency   int           `group:"work" default:"8" help:"Chunks in work at a time."`
	QueueCapacity int           `group:"work" default:"100" help:"Model calls that may wait in this process for one of the --concurrency places. The queue is first in, first out; who finds it full waits in front of it."`
	MaxAttempts   int           `group:"work" default:"5" help:"Failed attempts, each with its retries, after which a chunk is dead-lettered."`
	ChunkDeadline time.Duration `group:"work" default:"5m" help:"Longest time that one attempt at a chunk may take, waits included."`
}

func (f workFlags) check() error {
	switch {
	case f.Concurrency < 1:
		return errors.New("--concurrency must be positive")
	case f.QueueCapacity < 1:
		return errors.New("--queue-capacity must be positive")
	case f.MaxAttempts < 1:
		return errors.New("--max-attempts must be positive")
	case f.ChunkDeadline <= 0:
		return errors.New("--chunk-deadline must be positive")
	}
	return nil
}

// fleetFlags are how a worker comes and goes.
type fleetFlags struct {
	AckWait      time.Duration `group:"work" default:"30s" help:"Time after which the chunk of a worker that has died is given to another one. Counts for the worker that starts first."`
	DrainTimeout time.Duration `group:"work" default:"30s" help:"How long a worker that was told to stop may finish what it has begun."`
}

func (f fleetFlags) check() error {
	switch {
	case f.AckWait < time.Second:
		return errors.New("--ack-wait must be at least 1s")
	case f.DrainTimeout < 0:
		return errors.New("--drain-timeout must not be negative")
	}
	return nil
}

// engineFlags are everything that decides how a chunk is extracted.
type engineFlags struct {
	modelFlags   `embed:""`
	readingFlags `embed:""`
	domainFlags  `embed:""`
	limitFlags   `embed:""`
	retryFlags   `embed:""`
	circuitFlags `embed:""`
	workFlags    `embed:""`
}

func (f engineFlags) check() error {
	return errors.Join(f.modelFlags.check(f.ChunkDeadline), f.readingFlags.check(f.openai()), f.domainFlags.check(f.openai()), f.limitFlags.check(f.openai()), f.retryFlags.check(), f.circuitFlags.check(), f.workFlags.check())
}
