package resilience_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// R25 of docs/clauses.md.
func TestR25AmbiguousStateLetsTrafficThrough(t *testing.T) {
	t.Run("unknown state is closed, with one warning", func(t *testing.T) {
		var log bytes.Buffer
		b := newRig(t, func(c *resilience.BreakerConfig) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		b.edit("state", "ajar")
		for range 3 {
			require.NoError(t, b.allowed().Success(t.Context()))
		}
		b.is(resilience.Closed)
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
		require.Contains(t, log.String(), "ajar")
		b.edit("state", "half-shut")
		b.allowed()
		require.Equal(t, 2, strings.Count(log.String(), "level=WARN"))
		b.open() // and it works on from there
	})
	t.Run("no opened_at is due", func(t *testing.T) {
		b := newRig(t)
		b.edit("state", "open")
		require.Zero(t, b.retryAfter())
		require.True(t, b.allowed().Probe())
	})
	t.Run("opened_at that is no instant is due", func(t *testing.T) {
		for _, value := range []string{"yesterday", "", "NaN", "Inf", "-1e300", "1e300"} {
			b := newRig(t)
			b.edit("state", "open")
			b.edit("opened_at", value)
			require.Zero(t, b.retryAfter(), value)
			b.allowed()
		}
	})
	t.Run("a number that is none counts as 0", func(t *testing.T) {
		b := newRig(t)
		b.edit("failures", "many")
		b.fail(2)
		b.is(resilience.Closed)
		b.fail(1)
		b.is(resilience.Open)
	})
}

// The plain keys are the truth: what an operator writes by hand is what holds.
//
// R25 of docs/clauses.md.
func TestR25OperatorEditsByHand(t *testing.T) {
	t.Run("open", func(t *testing.T) {
		b := newRig(t)
		b.edit("state", "open\n") // as echo writes it
		b.edit("opened_at", "1699999999.5\n")
		require.Equal(t, 9250*time.Millisecond, b.refused().RetryAfter)
		b.pass(9250 * time.Millisecond)
		require.True(t, b.allowed().Probe())
	})
	t.Run("close by deleting the state", func(t *testing.T) {
		b := newRig(t)
		b.open()
		b.remove("state")
		require.NoError(t, b.allowed().Success(t.Context()))
		b.fail(2) // nothing is left of the count before
		b.is(resilience.Closed)
	})
	t.Run("close by writing the state, while a probe is out", func(t *testing.T) {
		b := newRig(t)
		b.due()
		probe := b.allowed()
		b.edit("state", "closed")
		require.NoError(t, probe.Failure(t.Context(), "late"))
		b.is(resilience.Closed)
	})
	t.Run("half-open by hand", func(t *testing.T) {
		b := newRig(t)
		b.edit("state", "half_open")
		require.NoError(t, b.allowed().Success(t.Context()))
		b.is(resilience.Closed)
	})
	t.Run("free the probes", func(t *testing.T) {
		for _, free := range []func(*rig){
			func(b *rig) { b.remove("half_open_calls") },
			func(b *rig) { b.edit("half_open_calls", "0\n") },
			func(b *rig) { b.remove("probe.0") },
		} {
			b := newRig(t)
			b.due()
			lost := b.allowed()
			b.refused()
			free(b)
			require.Zero(t, b.retryAfter())
			second := b.allowed()
			b.refused()
			// The first no longer has anything to give back.
			require.NoError(t, lost.Release(t.Context()))
			b.refused()
			held, err := lost.Renew(t.Context())
			require.NoError(t, err)
			require.False(t, held)
			require.NoError(t, second.Success(t.Context()))
			b.is(resilience.Closed)
		}
	})
	t.Run("end the hold", func(t *testing.T) {
		b := newRig(t)
		require.NoError(t, b.Force(t.Context(), "maintenance"))
		b.remove("hold")
		require.Equal(t, 10*time.Second, b.refused().RetryAfter)
		b.pass(10 * time.Second)
		b.allowed()
	})
}
