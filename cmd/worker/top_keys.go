package main

import (
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
)

var helpLines = []screen.Line{
	{Text: "worker top", Style: screen.Strong},
	{},
	{Text: "sort by  b waiting  u used  w wait"},
	{Text: "         f flight   r results  d dead"},
	{Text: "         n name"},
	{Text: "/        filter by name"},
	{Text: "tab      tenants or workers"},
	{Text: "l        what the columns are"},
	{Text: "j k      down, up; also arrows, pages"},
	{Text: "g G      first, last; also home, end"},
	{Text: "q        quit"},
	{},
	{Text: "any key goes back"},
}

// legendLines are what 'l' shows.
func legendLines() []screen.Line {
	lines := []screen.Line{{Text: "columns", Style: screen.Strong}, {}}
	for _, text := range legend() {
		lines = append(lines, screen.Line{Text: text})
	}
	return append(lines, screen.Line{}, screen.Line{Text: "- is not known. Columns that have no room are left out."}, screen.Line{}, screen.Line{Text: "any key goes back"})
}

// longestFilter bounds what is typed.
const longestFilter = 64

// press does what a key says, and reports whether that is to end.
func (v *topView) press(key screen.Key, height int) (quit bool) {
	page := max(1, height-8)
	switch {
	case key == screen.Interrupt:
		return true
	case v.read != nil:
		v.read = nil
		return false
	case v.typing:
		v.typeFilter(key)
		return false
	}
	switch key {
	case 'q':
		return true
	case '?', 'h':
		v.read = helpLines
	case 'l':
		v.read = legendLines()
	case '/':
		v.typing, v.workers = true, false
	case screen.Escape:
		v.filter = ""
	case screen.Tab:
		v.workers, v.top = !v.workers, 0
	case 'j', screen.Down:
		v.top++
	case 'k', screen.Up:
		v.top--
	case screen.PageDown, ' ':
		v.top += page
	case screen.PageUp:
		v.top -= page
	case 'g', screen.Home:
		v.top = 0
	case 'G', screen.End:
		v.top = v.rows
	default:
		if order, ok := orderKeys[rune(key)]; ok {
			v.order, v.top = order, 0
		}
	}
	v.top = max(0, min(v.top, v.rows)) // and by lines not beyond the last page
	return false
}

func (v *topView) typeFilter(key screen.Key) {
	switch key {
	case screen.Enter:
		v.typing = false
	case screen.Escape:
		v.typing, v.filter = false, ""
	case screen.Backspace:
		_, n := utf8.DecodeLastRuneInString(v.filter)
		v.filter = v.filter[:len(v.filter)-n]
	default:
		if key <= utf8.MaxRune && len(v.filter) < longestFilter {
			v.filter += string(rune(key))
		}
	}
	v.top = 0
}
