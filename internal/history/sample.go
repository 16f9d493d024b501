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
	// TookMS and AgeMS are of the newest result: how long its worker was at it, and
	// how long it is from when the chunk was accepted to when its result was stored.
	// They are nil if there is no result since the sample before.
	TookMS *int64 `json:"took_ms"`
	AgeMS  *int64 `json:"age_ms"`
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
