package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

// A long id does not push the other columns out of sight, and the index stays.
func TestALetterIsListedInOneLine(t *testing.T) {
	letter := publish.Letter{Dead: publish.Dead{DocumentID: strings.Repeat("d", 300), ChunkID: "c", Index: 12}}
	require.Equal(t, strings.Repeat("d", nameColumn-1)+"…/12", chunkClipped(letter))
	letter.ChunkID = ""
	require.Equal(t, strings.Repeat("d", nameColumn-1)+"…", chunkClipped(letter))
	require.Equal(t, "-", chunkClipped(publish.Letter{}))
	require.Equal(t, "doc/3", chunkClipped(publish.Letter{Dead: publish.Dead{DocumentID: "doc", ChunkID: "c", Index: 3}}))
}

// Whoever mixes up the two hears so, instead of that there is nothing like it.
func TestASpanThatHoldsNoTimeIsRefused(t *testing.T) {
	for _, flags := range []letterFlags{{OlderThan: 2 * time.Hour, NewerThan: time.Hour}, {OlderThan: time.Hour, NewerThan: time.Hour}} {
		_, err := flags.filter(time.Now())
		require.ErrorContains(t, err, "--newer-than has to be the longer")
		require.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	}
	now := time.Now()
	for _, flags := range []letterFlags{{OlderThan: time.Hour, NewerThan: 2 * time.Hour}, {OlderThan: time.Hour}, {NewerThan: time.Hour}} {
		filter, err := flags.filter(now)
		require.NoError(t, err)
		require.True(t, filter.Before.IsZero() || filter.After.Before(filter.Before), filter)
	}
}

func TestTheTrailOfALetterHasTimesLikeAllOthers(t *testing.T) {
	require.Equal(t, "7 malformed 2026-01-31T12:00:00Z", trailShown("7 malformed 2026-01-31T13:00:00.123456789+01:00"))
	for _, other := range []string{"", "x", "7 malformed yesterday"} {
		require.Equal(t, other, trailShown(other))
	}
}
