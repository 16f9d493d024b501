package wire

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// WorkersLife is how long the word of a worker counts: one that has not spoken
// for so long is gone.
const WorkersLife = 20 * time.Second

// WorkersBucket holds a key for every worker that is alive, and for a while after:
// <worker's name>.<instance> = a [WorkerState] in JSON.
func (n Names) WorkersBucket() string { return n.bucket("workers") }

// The word of a worker is worth nothing when it is old, so it need not be on a
// disk; it is gone when the server restarts, and soon there again.
func (n Names) workersBucketConfig() jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket:      n.WorkersBucket(),
		Description: "Weirkeeper: the workers that are alive",
		History:     1,
		Storage:     jetstream.MemoryStorage,
		Replicas:    n.Replicas(),
		TTL:         WorkersLife,
	}
}

// WorkerState is what a worker says of itself every now and then. Members are only ever
// added: what an earlier version does not say is missing, and not compared.
type WorkerState struct {
	Worker    string    `json:"worker"` // its name, as in results
	Version   string    `json:"version,omitempty"`
	StartedAt time.Time `json:"started_at"`
	At        time.Time `json:"at"` // when it said so
	// State is consuming, waiting (for the circuit to close, or for a problem to be
	// solved), draining or stopped.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"` // what keeps it from working

	Slots    int    `json:"slots"`
	InFlight int    `json:"in_flight"` // chunks in hand
	Lanes    int    `json:"lanes"`     // tenants that it has lately heard of
	Circuit  string `json:"circuit,omitempty"`
	// CircuitSettings are what it was told of that circuit, nil if it does not say.
	CircuitSettings *CircuitSettings `json:"circuit_settings,omitempty"`

	// RPM calls per window of WindowMS milliseconds, and TPM tokens, for each tenant
	// that has no limits of its own; 0 is no limit.
	RPM      int64 `json:"rpm,omitempty"`
	WindowMS int64 `json:"window_ms,omitempty"`
	TPM      int64 `json:"tpm,omitempty"`

	// Counts of deliveries since the start.
	Results uint64 `json:"results"` // chunks extracted by it
	Dead    uint64 `json:"dead"`    // dead letters written by it
	Nak     uint64 `json:"nak"`     // deliveries put back, for whatever reason

	// How long the chunks took that it has extracted since then: in its hands, and in
	// all, from when the stream accepted the chunk to when its result was stored.
	Took Durations `json:"took,omitempty"`
	Age  Durations `json:"age,omitempty"`
}

// CircuitSettings are what workers with one circuit should agree on.
type CircuitSettings struct {
	FailureThreshold  int   `json:"failure_threshold"`
	RecoveryTimeoutMS int64 `json:"recovery_timeout_ms"`
	HalfOpenMaxCalls  int   `json:"half_open_max_calls"`
}

// Encode returns the JSON form.
func (s WorkerState) Encode() []byte {
	body, err := json.Marshal(s)
	if err != nil {
		return []byte("{}") // no worker runs in a year that has no JSON form
	}
	return body
}

// DecodeWorkerState reads a value of the bucket. Strings are cleaned of control
// characters, so that they can be shown.
func DecodeWorkerState(value []byte) (WorkerState, error) {
	var s WorkerState
	if err := json.Unmarshal(value, &s); err != nil {
		return WorkerState{}, err
	}
	for _, text := range []*string{&s.Worker, &s.Version, &s.State, &s.Problem, &s.Circuit} {
		*text = CleanError(*text)
	}
	s.Took, s.Age = s.Took.known(), s.Age.known()
	return s, nil
}
