package history

import "time"

const (
	// Every is how far two samples are apart.
	Every = 10 * time.Second
	// Kept is how long a sample is remembered.
	Kept = time.Hour

	maxSamples  = int(Kept / Every)
	maxCircuits = 16  // that are followed
	maxChanges  = 256 // of one circuit that are remembered
)

// Sample is the fleet at one moment. What is nil is not known: nothing answered,
// or it was never asked before, so that there is nothing to count from.
type Sample struct {
	At      time.Time `json:"at"`
	Results *uint64   `json:"results"` // stored since the sample before
	Dead    *uint64   `json:"dead"`    // set aside since the sample before
	Waiting *uint64   `json:"waiting"` // chunks in the queue, those in hand included
	Workers *uint64   `json:"workers"` // that have said lately that they are alive
	// Took and Age say how long the chunks took whose results are new in what the workers
	// tell every few seconds: in a worker's hands, and from when they were accepted to
	// when their results were stored. They are nil if there are none.
	Took *Quantiles `json:"took"`
	Age  *Quantiles `json:"age"`
}

// Quantiles say how long something took, to a tenth.
type Quantiles struct {
	P50MS   int64  `json:"p50_ms"` // half of them took no longer
	P95MS   int64  `json:"p95_ms"`
	Results uint64 `json:"results"` // how many they were
}

// Change is what a circuit came to be, and when that was noticed.
type Change struct {
	At     time.Time `json:"at"`
	State  string    `json:"state"`
	Reason string    `json:"reason,omitempty"`
}

// Circuit is what one circuit did, oldest first. Before the first change nothing
// is known of it.
type Circuit struct {
	Name    string   `json:"name"`
	Changes []Change `json:"changes"`
}

// History is what is remembered.
type History struct {
	At       time.Time `json:"at"`
	Since    time.Time `json:"since"` // when this process began to look, or [Kept] ago
	EveryMS  int64     `json:"every_ms"`
	KeptMS   int64     `json:"kept_ms"`
	Samples  []Sample  `json:"samples"` // oldest first
	Circuits []Circuit `json:"circuits"`
}
