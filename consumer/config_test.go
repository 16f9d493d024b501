package consumer_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// A stream with another retention is a start-up error that names the field.
func TestStartUpErrorNamesTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.js.DeleteStream(t.Context(), w.names.ChunkStream()))
	_, err := w.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: w.names.ChunkStream(), Subjects: []string{w.names.ChunkFilter()}})
	require.NoError(t, err)
	worker, err := consumer.New(w.js, failing(), w.counts, w.config())
	require.NoError(t, err)
	err = worker.Run(t.Context())
	var mismatch *wire.MismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "retention", mismatch.Field)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for field, change := range map[string]func(*consumer.Config){
		"Namespace":     func(c *consumer.Config) { c.Namespace = "a b" },
		"Concurrency":   func(c *consumer.Config) { c.Concurrency = -1 },
		"MaxAttempts":   func(c *consumer.Config) { c.MaxAttempts = -1 },
		"AckWait":       func(c *consumer.Config) { c.AckWait = time.Millisecond },
		"ChunkDeadline": func(c *consumer.Config) { c.ChunkDeadline = -1 },
		"Backoff":       func(c *consumer.Config) { c.Backoff = resilience.RetryPolicy{Multiplier: 0.5} },
	} {
		cfg := w.config()
		change(&cfg)
		_, err := consumer.New(w.js, failing(), w.counts, cfg)
		var ce *consumer.ConfigError
		require.ErrorAs(t, err, &ce)
		require.Equal(t, field, ce.Field)
	}
	_, err := consumer.New(w.js, failing(), w.counts, consumer.Config{})
	require.NoError(t, err, "everything else has a default")
	_, err = consumer.New(nil, failing(), w.counts, w.config())
	require.ErrorContains(t, err, "js")
	_, err = consumer.New(w.js, nil, w.counts, w.config())
	require.ErrorContains(t, err, "extractor")
	_, err = consumer.New(w.js, failing(), nil, w.config())
	require.ErrorContains(t, err, "counts")
}
