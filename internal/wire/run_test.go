package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestRunsAreTakenApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := rapid.StringN(1, 40, -1).Draw(t, "document")
		run := rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(t, "run")
		d, r := wire.SplitRun(wire.RunDocument(document, run))
		require.Equal(t, document, d)
		require.Equal(t, run, r)
	})
}

func TestWhatIsNoRunStaysInTheID(t *testing.T) {
	for _, id := range []string{"", "d", "me@example.org", "d@run=", "@run=b", "d@run=a b", "d@run=" + strings.Repeat("x", 65)} {
		d, r := wire.SplitRun(id)
		require.Equal(t, id, d)
		require.Empty(t, r)
	}
	require.Equal(t, "d", wire.RunDocument("d", ""))
	require.Error(t, wire.CheckRun(""))
	require.Error(t, wire.CheckRun("a.b"))
	require.NoError(t, wire.CheckRun("gpt-5_2"))
}
