package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/health"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
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
	js        jetstream.JetStream
	names     wire.Names
	watchdog  *health.Watchdog
}

func newMonitor(e *engine, js jetstream.JetStream, names wire.Names, flags workFlags) *monitor {
	// All slots may be taken by chunks that need their whole deadline.
	return &monitor{e.worker, e.breaker, e.admission, e.pauses, js, names, health.NewWatchdog(flags.ChunkDeadline+time.Minute, nil)}
}

func (m *monitor) config(metrics, page http.Handler, profiles bool) health.Config {
	return health.Config{Live: m.live, Ready: m.ready, Notes: m.notes, Snapshot: m.snapshot, Metrics: metrics, Profiles: profiles, Page: page}
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

// notes says why a worker that is ready may be doing nothing, or not what it was told.
func (m *monitor) notes(ctx context.Context) []string {
	all, tenants := m.pauses.All(), 0
	var notes []string
	if note := m.circuitNote(ctx); note != "" {
		notes = append(notes, note)
	}
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
	for _, d := range m.worker.Status().Disagreements {
		notes = append(notes, d.String())
	}
	return notes
}

// circuitNote says of a circuit that is not closed how it is; "" also if the store does
// not answer, of which the reasons tell.
func (m *monitor) circuitNote(ctx context.Context) string {
	if !m.worker.Status().Connected {
		return ""
	}
	circuit, err := m.breaker.Snapshot(ctx)
	if err != nil || circuit.State == resilience.Closed {
		return ""
	}
	note := fmt.Sprintf("circuit %s is %s", circuit.Circuit, stateShown(circuit))
	if circuit.RetryAfter > 0 && !circuit.Forced {
		note += ", next probe in " + max(time.Second, circuit.RetryAfter.Round(time.Second)).String()
	}
	if circuit.Reason != "" {
		note += ": " + circuit.Reason
	}
	return note
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

// reading is how the worker is, in numbers: none of them is told apart by tenants or
// documents.
func (m *monitor) reading(ctx context.Context) work.Reading {
	r := work.Reading{
		Worker: m.worker.Status(), Ready: len(m.ready()) == 0, Line: m.admission.Snapshot(),
		FleetPaused: m.pauses.Fleet() > 0, Pauses: len(m.pauses.All()),
	}
	// The rest is the fleet's; without an answer of the server there is no number.
	if !r.Worker.Connected {
		return r
	}
	if circuit, err := m.breaker.Snapshot(ctx); err == nil {
		r.Circuit = &circuit
	}
	r.Streams = map[string]uint64{}
	for label, name := range map[string]string{"chunks": m.names.ChunkStream(), "documents": m.names.DocumentStream(), "dead": m.names.DeadStream()} {
		if stream, err := m.js.Stream(ctx, name); err == nil {
			r.Streams[label] = stream.CachedInfo().State.Msgs
		}
	}
	return r
}
