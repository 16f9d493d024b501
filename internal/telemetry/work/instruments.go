package work

import (
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// instruments are what is counted and timed as it happens.
type instruments struct {
	deliveries, redeliveries, naks, deadLetters, failedAttempts counter
	admitted, refused, retries, tokens, transitions             counter
	consumed, sent                                              counter

	process, operation         distribution // of messaging
	call, callTokens           distribution // of generative AI
	stage, queued, wait, store distribution
}

// Buckets in seconds: from a store in the same rack to the longest chunk.
func seconds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
}

// waits are seconds, too, of what may take until tomorrow.
func waits() []float64 {
	return []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400}
}

// newInstruments makes them all. circuit is the name of the worker's circuit. tenant is
// a label of the counters that may have it, "" if tenants are not told apart.
func newInstruments(meter metric.Meter, circuit, tenant string) (*instruments, error) {
	var failed error
	count := func(name, unit, text string, names ...string) counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
		failed = errors.Join(failed, err)
		return counter{c, newLabels(names...)}
	}
	distribute := func(name, unit, text string, buckets []float64, names ...string) distribution {
		h, err := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(buckets...))
		failed = errors.Join(failed, err)
		return distribution{h, newLabels(names...)}
	}
	i := &instruments{
		deliveries:     count("weirkeeper.deliveries", "{delivery}", "Deliveries settled by this worker, by what they came to.", outcomeKey, queueKey, tenant),
		redeliveries:   count("weirkeeper.redeliveries", "{delivery}", "Deliveries of messages that had been delivered before.", queueKey),
		naks:           count("weirkeeper.naks", "{delivery}", "Deliveries put back to the queue, by why.", outcomeKey, tenant),
		deadLetters:    count("weirkeeper.dead_letters", "{message}", "Messages set aside, by kind.", kindKey, tenant),
		failedAttempts: count("weirkeeper.failed_attempts", "{attempt}", "Deliveries that were counted as a failed attempt of their chunk, by what they came to.", outcomeKey, tenant),
		admitted:       count("weirkeeper.calls_admitted", "{call}", "Model calls that the limit and the circuit let through, retries within one not counted.", tenant),
		refused:        count("weirkeeper.calls_refused", "{call}", "Model calls that were refused before the model server was asked, by why.", reasonKey, tenant),
		retries:        count("weirkeeper.call_retries", "{request}", "Requests to the model after the first one of a call."),
		tokens:         count("weirkeeper.tokens", "{token}", "Tokens as the model server reported them.", directionKey, tenant),
		transitions:    count("weirkeeper.circuit_transitions", "{transition}", "Transitions of the circuit that this worker heard of, whoever made them: the same in all workers of this circuit.", circuitKey, "from", "to"),

		consumed: count("messaging.client.consumed.messages", "{message}", "Messages that were delivered to this worker.", systemKey, operationNameKey, templateKey),
		sent:     count("messaging.client.sent.messages", "{message}", "Messages that this worker tried to send.", systemKey, operationNameKey, templateKey, errorKey),

		process:   distribute("messaging.process.duration", "s", "From having a message in hand to having settled it.", seconds(), systemKey, operationNameKey, templateKey, errorKey),
		operation: distribute("messaging.client.operation.duration", "s", "Sending a message until the server has stored it, and settling one.", seconds(), systemKey, operationNameKey, operationTypeKey, templateKey, errorKey),

		call: distribute("gen_ai.client.operation.duration", "s", "One request to the model, retries counted apart.",
			[]float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68},
			aiOperationKey, aiProviderKey, aiModelKey, addressKey, portKey, errorKey),
		callTokens: distribute("gen_ai.client.token.usage", "{token}", "Tokens of one request to the model, as its server reported them.",
			[]float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
			aiOperationKey, aiProviderKey, aiModelKey, aiTokenTypeKey, addressKey, portKey),

		stage:  distribute("weirkeeper.chunk_stage_duration", "s", "Part of the work on a chunk or document, by stage.", seconds(), stageKey, errorKey),
		queued: distribute("weirkeeper.queue_duration", "s", "From the stream's acceptance of a message to its first delivery, by the server's clock and this worker's.", waits(), queueKey),
		wait:   distribute("weirkeeper.retry_after", "s", "How long refused calls were told to wait, by why.", waits(), reasonKey),
		store:  distribute("weirkeeper.store_operation_duration", "s", "Operations on the shared state.", seconds(), storeKey, operationKey, errorKey),
	}
	if failed != nil {
		return nil, failed
	}
	i.begin(circuit)
	return i, nil
}

// begin makes the series exist that an alert may wait for.
func (i *instruments) begin(circuit string) {
	for _, kind := range []string{
		wire.KindInvalidMessage, wire.KindAttemptsExhausted, wire.KindDeadline,
		string(extraction.KindMalformed), string(extraction.KindEmpty), string(extraction.KindTruncated),
		string(extraction.KindRefused), string(extraction.KindContextTooLong), string(extraction.KindInvalidRequest),
	} {
		i.deadLetters.begin(kind)
	}
	for _, reason := range []string{reasonLimit, reasonCircuit, reasonStore, reasonWindow, reasonOther} {
		i.refused.begin(reason)
	}
	for from, next := range map[resilience.State][]resilience.State{
		resilience.Closed: {resilience.Open}, resilience.Open: {resilience.HalfOpen, resilience.Closed}, resilience.HalfOpen: {resilience.Open, resilience.Closed},
	} {
		for _, to := range next {
			i.transitions.begin(circuit, string(from), string(to))
		}
	}
	i.admitted.begin()
	i.retries.begin()
	i.tokens.begin(input)
	i.tokens.begin(output)
	i.redeliveries.begin("chunks")
	i.redeliveries.begin("documents")
}
