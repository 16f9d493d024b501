package overview

import "time"

// Fleet is a fleet at one moment. As JSON it is what /api/fleet and worker top
// --json say; empty lists are [].
type Fleet struct {
	At      time.Time `json:"at"`
	Workers []Worker  `json:"workers"` // heard of within [wire.WorkersLife], by name
	// UnreadableWorkers are entries beside them that no worker of a version like this one
	// has written.
	UnreadableWorkers int `json:"unreadable_workers"`
	// Disagreements are settings that the workers share and do not have alike.
	Disagreements []Disagreement `json:"disagreements"`
	Circuits      []Circuit      `json:"circuits"` // that were ever anything but quiet, by name; not those of worker check

	// Tenants that have anything waiting, dead letters, limits, a pause, calls in
	// the present window, or results as far as these are listed: at most
	// [Config.MaxTenants], those with most waiting first.
	Tenants      []Tenant `json:"tenants"`
	TenantsTotal int      `json:"tenants_total"`
	Truncated    bool     `json:"truncated"` // some tenants are not in Tenants

	Totals Totals     `json:"totals"`
	Dead   []DeadKind `json:"dead"`   // of the newest 1,000 dead letters, most first
	Pauses []Pause    `json:"pauses"` // in force, that of the whole fleet first
}

// Circuit is one circuit as it is stored.
type Circuit struct {
	Name          string     `json:"name"`
	State         string     `json:"state"`  // closed, open or half_open
	Forced        bool       `json:"forced"` // open until somebody resets it
	OpenedAt      *time.Time `json:"opened_at"`
	Reason        string     `json:"reason"` // one line
	Failures      int        `json:"failures"`
	HalfOpenCalls int        `json:"half_open_calls"`
	// NextProbeAt is when an open circuit lets a call through again, by the NATS
	// server's clock, nil if that is not known, as of one that was opened by hand.
	NextProbeAt *time.Time `json:"next_probe_at"`
}

// Tenant is how a tenant stands.
type Tenant struct {
	Tenant string `json:"tenant"`
	// Waiting are the chunks that have neither result nor dead letter yet, those in
	// flight included; DocumentsWaiting the raw documents that are not split yet.
	Waiting          uint64 `json:"waiting"`
	DocumentsWaiting uint64 `json:"documents_waiting"`
	// InFlight are the chunks that were given to a worker and are not settled: in its
	// hands, or put back for later.
	InFlight int `json:"in_flight"`

	// RPM calls per window of WindowMS milliseconds, and TPM tokens; 0 is no limit, or
	// one that nobody who is alive has told of.
	RPM      int64 `json:"rpm"`
	WindowMS int64 `json:"window_ms"`
	TPM      int64 `json:"tpm"`
	// Used and UsedTokens are what the present window holds, nil if that is not known.
	Used       *int64 `json:"used"`
	UsedTokens *int64 `json:"used_tokens"`
	// WaitUntil is when a call of the tenant is admitted again, nil if it would be now
	// or if that is not known, as of an open circuit; WaitReason is why not now.
	WaitUntil  *time.Time `json:"wait_until"`
	WaitReason WaitReason `json:"wait_reason"`

	Results *uint64 `json:"results"` // stored, nil as long as they are not counted
	Dead    uint64  `json:"dead"`    // dead letters
}

// WaitReason is why a tenant's calls are not admitted.
type WaitReason string

const (
	NotWaiting WaitReason = ""
	Limit      WaitReason = "limit"   // its window is full
	Cooling    WaitReason = "cooling" // the model server has asked for less
	Paused     WaitReason = "paused"  // an operator has paused it, or the fleet
	Open       WaitReason = "circuit" // the circuit of every worker is open
)

// Totals are sums over all tenants. What is in flight is that of the listed tenants.
type Totals struct {
	Waiting          uint64 `json:"waiting"`
	DocumentsWaiting uint64 `json:"documents_waiting"`
	InFlight         int    `json:"in_flight"`
	Results          uint64 `json:"results"`
	Dead             uint64 `json:"dead"`
}

// DeadKind counts dead letters of one kind.
type DeadKind struct {
	Kind   string    `json:"kind"`
	Count  int       `json:"count"`
	LastAt time.Time `json:"last_at"`
}

// Pause is a pause in force.
type Pause struct {
	Tenant string     `json:"tenant"` // "*" for the whole fleet
	Fleet  bool       `json:"fleet"`
	Until  *time.Time `json:"until"`
	Reason string     `json:"reason,omitempty"` // one line
}
