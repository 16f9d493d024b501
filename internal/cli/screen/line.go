package screen

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// Style is how a line stands out.
type Style int

const (
	Plain Style = iota
	Strong
	Heading // across the whole width
	Alarm
	Note
)

// Line is one line of a screen. Its text holds no control characters, see
// [cli.Printable], and is cut where the screen ends.
type Line struct {
	Text  string
	Style Style
}

var codes = map[Style]string{Strong: "\x1b[1m", Heading: "\x1b[7m", Alarm: "\x1b[31m", Note: "\x1b[33m"}

// Fit is text that anybody may have chosen, made to take exactly width columns of
// a terminal: shortened with an ellipsis, or filled up with spaces. Wide and
// combining characters count as terminals count them.
func Fit(text string, width int) string {
	return runewidth.FillRight(Cut(text, width), width)
}

// FitRight is [Fit] for numbers: they are moved to the right.
func FitRight(text string, width int) string {
	return runewidth.FillLeft(Cut(text, width), width)
}

// Cut is text of at most width columns.
func Cut(text string, width int) string {
	text = cli.Printable(text)
	if width <= 0 {
		return ""
	}
	if Width(text) <= width {
		return text
	}
	if width == 1 {
		return "…"
	}
	return runewidth.Truncate(text, width, "…")
}

// Width is how many columns of a terminal text takes.
func Width(text string) int { return runewidth.StringWidth(text) }

// paint is the frame as it is sent to a terminal of that size: what was there is
// written over, so that nothing flickers.
func paint(lines []Line, width, height int, colour bool) string {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		text := Cut(line.Text, width)
		if line.Style == Heading {
			text = Fit(line.Text, width)
		}
		if code := codes[line.Style]; code != "" && colour && text != "" {
			text = code + text + "\x1b[0m"
		}
		b.WriteString(text)
		if Width(line.Text) < width && line.Style != Heading {
			b.WriteString("\x1b[K")
		}
	}
	b.WriteString("\x1b[J")
	return b.String()
}
