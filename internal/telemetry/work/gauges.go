package work

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// Reading is how a worker is at one moment.
type Reading struct {
	Worker consumer.Status
	Ready  bool
	Line   admission.Snapshot

	FleetPaused bool
	Pauses      int

	// Circuit is that of this worker's model server, which it shares with all workers
	// with the same name of it. Streams are the fleet's. Without an answer of the server
	// they are nil, and there is no number.
	Circuit *resilience.Snapshot
	Streams map[string]uint64 // messages, by "chunks", "documents" and "dead"
}

// readTimeout bounds what a reading may ask of the server.
const readTimeout = 2 * time.Second

// Watch has read called whenever somebody wants the numbers.
func (o *Observer) Watch(t *telemetry.Telemetry, build telemetry.Build, read func(context.Context) Reading) error {
	meter := t.Meter()
	var all []metric.Observable
	var failed error
	gauge := func(name, unit, text string) metric.Float64Observable {
		g, err := meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		failed = errors.Join(failed, err)
		all = append(all, g)
		return g
	}
	var (
		built       = gauge("weirkeeper.build_info", "", "1, with the build of this worker.")
		ready       = gauge("weirkeeper.ready", "", "1 if this worker takes work: /readyz says why not.")
		connected   = gauge("weirkeeper.connected", "", "1 if this worker is connected to NATS.")
		consuming   = gauge("weirkeeper.consuming", "", "1 if the queues answer this worker.")
		draining    = gauge("weirkeeper.draining", "", "1 if this worker was told to stop.")
		paused      = gauge("weirkeeper.paused", "", "1 if the whole fleet is paused.")
		pauses      = gauge("weirkeeper.pauses", "{pause}", "Pauses in force: tenants, and the whole fleet.")
		slots       = gauge("weirkeeper.concurrency", "{chunk}", "Chunks that this worker may work on at a time.")
		chunks      = gauge("weirkeeper.chunks_in_hand", "{chunk}", "Chunks that this worker is working on.")
		documents   = gauge("weirkeeper.documents_in_hand", "{document}", "Raw documents that this worker is splitting.")
		capacity    = gauge("weirkeeper.call_queue_capacity", "{call}", "Model calls that may wait in this worker for their turn.")
		queued      = gauge("weirkeeper.calls_queued", "{call}", "Model calls of this worker that wait for their turn in it.")
		active      = gauge("weirkeeper.calls_active", "{call}", "Model calls of this worker that had their turn and are not over, waits between retries included.")
		hungry      = gauge("weirkeeper.tenants_ready", "{tenant}", "Tenants that this worker knows to have chunks which it would start if it had free slots. More workers would help them.")
		waiting     = gauge("weirkeeper.tenants_waiting", "{tenant}", "Tenants that this worker knows to have chunks which would be refused now or are due later. More workers would not help them.")
		workers     = gauge("weirkeeper.workers", "{worker}", "Workers of the fleet, as this one counts them.")
		differ      = gauge("weirkeeper.settings_differ", "{setting}", "Settings that the fleet shares and with which not all workers were started: the same for the whole fleet. /readyz names them.")
		streams     = gauge("weirkeeper.stream_messages", "{message}", "Messages in a stream, those in hand included: the same for the whole fleet.")
		state       = gauge("weirkeeper.circuit_state", "", "1 for the state that the circuit is in: the same in all workers of this circuit.")
		failures    = gauge("weirkeeper.circuit_failures", "{call}", "Failed calls that the circuit remembers.")
		probes      = gauge("weirkeeper.circuit_half_open_calls", "{call}", "Probes under way while the circuit is half open.")
		circuitWait = gauge("weirkeeper.circuit_retry_after", "s", "How long the circuit stays open.")
	)
	if failed != nil {
		return failed
	}
	buildLabels := metric.WithAttributes(attribute.String("version", build.Version), attribute.String("revision", build.Revision), attribute.String("go_version", build.Go))
	_, err := meter.RegisterCallback(func(ctx context.Context, out metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		r := read(ctx)
		is := func(g metric.Float64Observable, yes bool, labels ...string) {
			out.ObserveFloat64(g, number(yes), pairs(labels))
		}
		has := func(g metric.Float64Observable, n float64, labels ...string) {
			out.ObserveFloat64(g, n, pairs(labels))
		}
		out.ObserveFloat64(built, 1, buildLabels)
		is(ready, r.Ready)
		is(connected, r.Worker.Connected)
		is(consuming, r.Worker.Consuming)
		is(draining, r.Worker.Draining)
		is(paused, r.FleetPaused)
		has(pauses, float64(r.Pauses))
		has(slots, float64(r.Worker.Concurrency))
		has(chunks, float64(r.Worker.ChunksInHand))
		has(documents, float64(r.Worker.DocumentsInHand))
		has(capacity, float64(r.Line.QueueCapacity))
		has(queued, float64(r.Line.Queued))
		has(active, float64(r.Line.Active))
		has(hungry, float64(r.Worker.TenantsReady))
		has(waiting, float64(r.Worker.TenantsWaiting))
		has(workers, float64(r.Worker.Workers))
		has(differ, float64(len(r.Worker.Disagreements)))
		for name, n := range r.Streams {
			has(streams, float64(n), streamKey, name)
		}
		if c := r.Circuit; c != nil {
			for _, s := range []resilience.State{resilience.Closed, resilience.Open, resilience.HalfOpen} {
				is(state, c.State == s, circuitKey, o.circuit, stateKey, string(s))
			}
			has(failures, float64(c.Failures), circuitKey, o.circuit)
			has(probes, float64(c.HalfOpenCalls), circuitKey, o.circuit)
			has(circuitWait, c.RetryAfter.Seconds(), circuitKey, o.circuit)
		}
		return nil
	}, all...)
	return err
}

func pairs(labels []string) metric.ObserveOption {
	var attributes []attribute.KeyValue
	for i := 0; i+1 < len(labels); i += 2 {
		attributes = append(attributes, attribute.String(labels[i], labels[i+1]))
	}
	return metric.WithAttributes(attributes...)
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Changed counts a transition of the circuit.
func (o *Observer) Changed(c resilience.Change) {
	o.transitions.add(context.Background(), 1, o.circuit, string(c.From), string(c.To))
}
