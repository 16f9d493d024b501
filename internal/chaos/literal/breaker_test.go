package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The baseline is no straw man: within its process this is a whole circuit breaker.
func TestBreaker(t *testing.T) {
	const recovery = 2 * time.Second
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	b := &breaker{threshold: 2, recovery: recovery}
	call := func(failed bool) { require.Zero(t, b.enter(now)); b.left(now, failed) }

	call(true)
	call(false) // failures in a row are counted
	call(true)
	call(true)
	require.Equal(t, recovery, b.enter(now), "open")
	now = now.Add(recovery)
	require.Zero(t, b.enter(now), "the probe")
	require.Equal(t, recovery, b.enter(now), "only one")
	b.left(now, true)
	require.Equal(t, recovery, b.enter(now), "it failed")
	now = now.Add(recovery)
	call(false)
	require.Zero(t, b.enter(now), "it worked")
}
