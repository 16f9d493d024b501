package cli_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

func TestProgressOffATerminalIsALineNowAndThen(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	progress := cli.NewProgress(&out, "sent", 10, func() time.Time { return now })
	progress.Set(1, 0)
	require.Empty(t, out.String(), "nothing in the first seconds")
	now = now.Add(11 * time.Second)
	progress.Set(4, 1)
	progress.Set(5, 1)
	now = now.Add(11 * time.Second)
	progress.Set(10, 1)
	progress.End()
	require.Equal(t, "sent: 4 of 10\n", out.String())
	require.NotContains(t, out.String(), "\x1b", "no control sequences off a terminal")
}

func TestPrintableQuotesWhatATerminalWouldObey(t *testing.T) {
	require.Equal(t, "Zürich 日本", cli.Printable("Zürich 日本"))
	require.Equal(t, `"a\x1b[31m\nb"`, cli.Printable("a\x1b[31m\nb"))
}

func TestClippedFitsAColumn(t *testing.T) {
	require.Equal(t, "日本語", cli.Clipped("日本語", 3))
	require.Equal(t, "日本…", cli.Clipped("日本語語", 3))
	require.Equal(t, `"a\x…`, cli.Clipped("a\x1b[31m", 5))
}
