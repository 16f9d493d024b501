package screen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestKeys(t *testing.T) {
	require.Equal(t, []Key{'q', Up, Down, PageDown, Enter, Backspace, 'é', Escape}, parseKeys([]byte("q\x1b[A\x1bOB\x1b[6~\r\x7fé\x1b")))
	require.Equal(t, []Key{'a', 'b'}, parseKeys([]byte("a\x1b[38;5;1mb")), "a sequence that is no key")
	require.Equal(t, []Key{Interrupt}, parseKeys([]byte{3}))
	require.Equal(t, []Key{Escape, '['}, parseKeys([]byte{0xff, 0x01, 0x1b, '['}))
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("q\x1b[A\x1b[1;5C\x1bO"))
	f.Add([]byte{0x1b, 0x1b, '[', '[', 0xff})
	f.Fuzz(func(t *testing.T, sent []byte) {
		if keys := parseKeys(sent); len(keys) > len(sent) {
			t.Fatalf("%d keys of %d bytes", len(keys), len(sent))
		}
	})
}

// Whatever a text holds, it takes the columns that it was given and no more, and
// nothing of it is a command to the terminal.
func TestTextsTakeTheirPlaceAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, width := rapid.String().Draw(t, "text"), rapid.IntRange(1, 50).Draw(t, "width")
		fitted := Fit(text, width)
		require.Equal(t, width, Width(fitted), "%q", fitted)
		require.LessOrEqual(t, Width(Cut(text, width)), width)
		require.False(t, strings.ContainsFunc(fitted, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }), "%q", fitted)
	})
	require.Equal(t, "東京…", Cut("東京タワー", 6))
	require.Equal(t, `"\x1b[2J"`, Cut("\x1b[2J", 20))
	require.Equal(t, "  12", FitRight("12", 4))
	require.Empty(t, Cut("x", 0))
}

func TestAFrameWritesOverTheOneBefore(t *testing.T) {
	lines := []Line{{"fleet", Strong}, {"TENANT", Heading}, {"a long line", Alarm}, {"below", Plain}}
	require.Equal(t, "\x1b[Hfleet\x1b[K\r\nTENANT  \r\na long …\x1b[J", paint(lines, 8, 3, false))
	require.Equal(t, "\x1b[H\x1b[1mfleet\x1b[0m\x1b[K\x1b[J", paint(lines, 8, 1, true))
	require.Equal(t, "\x1b[H\x1b[J", paint(nil, 8, 3, true))
}
