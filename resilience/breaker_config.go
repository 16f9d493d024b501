package resilience

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// BreakerConfig describes one circuit. Start from [DefaultBreakerConfig]: the
// three limits must be positive, a zero is taken for a setting that got lost.
type BreakerConfig struct {
	// Cache holds the circuit. Breakers with the same cache, prefix and name
	// are one breaker. If it also is a kvcache.Versioned, that holds exactly,
	// in however many processes; otherwise see kvcache.Unversioned. Defaults
	// to an in-memory cache of the breaker's own.
	Cache kvcache.KeyValue
	// Name names the circuit, which stands for one server, in keys and errors.
	Name string
	// Prefix comes before the name in every key. Defaults to none.
	Prefix string

	// FailureThreshold is how many failures without a success between them
	// open the circuit.
	FailureThreshold int
	// RecoveryTimeout is how long an open circuit refuses every call, and also
	// how long a first failure is remembered.
	RecoveryTimeout time.Duration
	// HalfOpenMaxCalls is how many calls may probe at the same time, at most
	// 100. Each takes one key. Breakers of one circuit should agree on it; if they
	// do not, each keeps to its own, and the largest bounds them together.
	HalfOpenMaxCalls int
	// ProbeLease is how long a probe counts without a sign of life from its
	// caller: a caller that was killed delays recovery by so much. One that
	// takes longer must call [Permit.Renew], as [Guard] does, at most every
	// millisecond. Defaults to RecoveryTimeout.
	ProbeLease time.Duration

	// MaxStaleness is how old a read may be that admits a call, or that finds no
	// failures for a success to forgive. So a circuit that somebody else opens may
	// admit calls for so much longer, and in return busy callers read once in that
	// time and not twice a call. What the breaker itself changes it sees at once.
	// Defaults to 0: every call reads.
	MaxStaleness time.Duration

	// Ramp is for how long after recovery only a growing share of calls is
	// admitted, from a tenth to all; the others are refused as if the circuit
	// were open for a moment longer. Defaults to 0: everybody at once.
	Ramp time.Duration
	// Rand, uniform in [0,1) and safe for concurrent use, decides who is in the
	// share. Defaults to math/rand/v2.
	Rand func() float64

	// Clock writes opened_at and reads it back, and tells the age of reads. It does not
	// decide when an open circuit is due, nor when a lease ends: the cache does.
	// Defaults to time.Now.
	Clock func() time.Time
	// Logger gets a warning about stored state that makes no sense. Defaults
	// to none.
	Logger *slog.Logger
	// OnChange is told of each transition that this breaker made, after it took
	// place. It is called by whoever caused it and must not block. Defaults to
	// none.
	OnChange func(Change)
}

// Change is one transition of a circuit.
type Change struct {
	Circuit  string
	From, To State
	Reason   string // why it opened, empty for other transitions
	At       time.Time
	// Period names the period that began. It is the same for everybody who
	// hears of the transition, if the cache is a kvcache.Versioned.
	Period uint64
}

// DefaultBreakerConfig is a circuit called "default" that opens after 5
// failures, for 60 seconds, and lets 1 call probe.
func DefaultBreakerConfig() BreakerConfig {
	return BreakerConfig{Name: "default", FailureThreshold: 5, RecoveryTimeout: time.Minute, HalfOpenMaxCalls: 1}
}

// maxProbes bounds BreakerConfig.HalfOpenMaxCalls.
const maxProbes = 100

// complete refuses what makes no sense and fills in what is absent.
func (c *BreakerConfig) complete() error {
	switch {
	case c.Name == "":
		return &ConfigError{"Name", "must not be empty"}
	case c.FailureThreshold <= 0:
		return &ConfigError{"FailureThreshold", "must be positive"}
	case c.RecoveryTimeout <= 0:
		return &ConfigError{"RecoveryTimeout", "must be positive"}
	case c.HalfOpenMaxCalls <= 0 || c.HalfOpenMaxCalls > maxProbes:
		return &ConfigError{"HalfOpenMaxCalls", "must be between 1 and 100"}
	case c.ProbeLease < 0:
		return &ConfigError{"ProbeLease", "must not be negative"}
	case c.MaxStaleness < 0:
		return &ConfigError{"MaxStaleness", "must not be negative"}
	case c.Ramp < 0:
		return &ConfigError{"Ramp", "must not be negative"}
	}
	if c.ProbeLease == 0 {
		c.ProbeLease = c.RecoveryTimeout
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnChange == nil {
		c.OnChange = func(Change) {}
	}
	return nil
}
