package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/health"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// monitor answers what --listen is asked.
type monitor struct {
	worker    *consumer.Worker
	breaker   *resilience.Breaker
	admission *admission.Controller
	pauses    *pauses.Follower
	watchdog  *health.Watchdog
}

func newMonitor(e *engine, flags workFlags) *monitor {
	// All slots may be taken by chunks that need their whole deadline.
	return &monitor{e.worker, e.breaker, e.admission, e.pauses, health.NewWatchdog(flags.ChunkDeadline+time.Minute, nil)}
}

func (m *monitor) config() health.Config {
	return health.Config{Live: m.live, Ready: m.ready, Notes: m.notes, Snapshot: m.snapshot, Metrics: health.Metrics(m.metrics)}
}

func (m *monitor) live() []string {
	status := m.worker.Status()
	// While NATS is gone there is no progress, and a restart would not help.
	if complaint := m.watchdog.Look(status.LastProgress, !status.Connected); complaint != "" {
		return []string{complaint}
	}
	return nil
}

func (m *monitor) ready() []string {
	status := m.worker.Status()
	var reasons []string
	if !status.Connected {
		reasons = append(reasons, "not connected to NATS")
	}
	if status.Draining {
		reasons = append(reasons, "draining")
	} else if !status.Consuming {
		reasons = append(reasons, "the queues do not answer")
	}
	if status.Problem != "" {
		reasons = append(reasons, status.Problem)
	}
	return reasons
}

// notes says why a worker that is ready may be doing nothing.
func (m *monitor) notes() []string {
	all, tenants := m.pauses.All(), 0
	var notes []string
	for _, p := range all {
		if !p.Fleet {
			tenants++
			continue
		}
		note := "the whole fleet is paused until " + p.Until.Format(time.RFC3339)
		if p.Reason != "" {
			note += ": " + p.Reason
		}
		notes = append(notes, note)
	}
	if tenants > 0 {
		notes = append(notes, cli.Count(tenants, "tenant")+" paused")
	}
	return notes
}

// snapshot is what /snapshot answers.
type snapshot struct {
	Worker    consumer.Status      `json:"worker"`
	Admission admission.Snapshot   `json:"admission"`
	Pauses    []pauses.Pause       `json:"pauses"`  // in force
	Circuit   *resilience.Snapshot `json:"circuit"` // null if the store does not answer
}

func (m *monitor) snapshot(ctx context.Context) any {
	answer := snapshot{Worker: m.worker.Status(), Admission: m.admission.Snapshot(), Pauses: m.pauses.All()}
	if circuit, err := m.breaker.Snapshot(ctx); err == nil {
		answer.Circuit = &circuit
	}
	return answer
}

// metrics has no label that grows with the number of tenants or documents.
func (m *monitor) metrics(ctx context.Context) []health.Metric {
	status, line := m.worker.Status(), m.admission.Snapshot()
	outcomes := health.Metric{
		Name: "weirkeeper_deliveries_total", Help: "Deliveries settled by this worker, by what they came to.",
		Type: health.Counter, Label: "outcome",
	}
	for _, outcome := range slices.Sorted(maps.Keys(status.Outcomes)) {
		outcomes.Samples = append(outcomes.Samples, health.Sample{LabelValue: outcome, Value: float64(status.Outcomes[outcome])})
	}
	metrics := []health.Metric{
		outcomes,
		gauge("weirkeeper_chunks_in_hand", "Chunks that this worker is working on.", float64(status.ChunksInHand)),
		gauge("weirkeeper_documents_in_hand", "Raw documents that this worker is splitting.", float64(status.DocumentsInHand)),
		gauge("weirkeeper_concurrency", "Chunks that this worker may work on at a time.", float64(status.Concurrency)),
		gauge("weirkeeper_tenants_ready", "Tenants that this worker knows to have chunks which it would start if it had free slots. More workers would help them.", float64(status.TenantsReady)),
		gauge("weirkeeper_tenants_waiting", "Tenants that this worker knows to have chunks which would be refused now or are due later. More workers would not help them.", float64(status.TenantsWaiting)),
		gauge("weirkeeper_calls_queued", "Model calls of this worker that wait for their turn in it.", float64(line.Queued)),
		gauge("weirkeeper_calls_active", "Model calls of this worker that had their turn and are not over, waits between retries included.", float64(line.Active)),
		gauge("weirkeeper_workers", "Workers of the fleet, as this one counts them.", float64(status.Workers)),
		gauge("weirkeeper_connected", "1 if this worker is connected to NATS.", number(status.Connected)),
		gauge("weirkeeper_consuming", "1 if the queues answer this worker.", number(status.Consuming)),
		gauge("weirkeeper_paused", "1 if the whole fleet is paused.", number(m.pauses.Fleet() > 0)),
		gauge("weirkeeper_pauses", "Pauses in force: tenants, and the whole fleet.", float64(len(m.pauses.All()))),
		gauge("weirkeeper_draining", "1 if this worker was told to stop.", number(status.Draining)),
	}
	// The circuit is the fleet's; without an answer of the store there is no number.
	if circuit, err := m.breaker.Snapshot(ctx); err == nil {
		state := health.Metric{Name: "weirkeeper_circuit_state", Help: "1 for the state that the circuit is in.", Type: health.Gauge, Label: "state"}
		for _, s := range []resilience.State{resilience.Closed, resilience.Open, resilience.HalfOpen} {
			state.Samples = append(state.Samples, health.Sample{LabelValue: string(s), Value: number(circuit.State == s)})
		}
		metrics = append(metrics, state,
			gauge("weirkeeper_circuit_failures", "Failed calls that the circuit remembers.", float64(circuit.Failures)))
	}
	return metrics
}

func gauge(name, help string, value float64) health.Metric {
	return health.Metric{Name: name, Help: help, Type: health.Gauge, Samples: []health.Sample{{Value: value}}}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
