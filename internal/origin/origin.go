// Package origin remembers where a text that was extracted stands in the bytes
// that it was extracted from.
package origin

import (
	"math"
	"sort"
)

// maxRuns bounds what a map takes, to 256 MiB. A page with more breaks than that
// is none that anybody wrote.
const maxRuns = 1 << 24

// Map says for each piece of a text from which bytes of its source it came. It is
// made from the beginning to the end. The zero value is a map of nothing. One that is
// finished is safe for concurrent use.
type Map struct {
	runs []run
	end  int  // of what came last, in the source
	lost bool // it became too large
}

// run is a part of the text of which every unit bytes came from width bytes of the
// source. It goes on until the next one. What the text has between two of them, such
// as line ends for tags, came from nowhere.
type run struct{ text, source, unit, width uint32 }

// Verbatim notes that n bytes of the text at an offset are those at an offset of the
// source.
func (m *Map) Verbatim(text, source, n int) { m.add(text, 1, source, 1, n) }

// Unit notes that n bytes of the text came from width bytes of the source as a
// whole: an entity, a character in another encoding.
func (m *Map) Unit(text, n, source, width int) {
	if n == width {
		m.Verbatim(text, source, n)
		return
	}
	m.add(text, n, source, width, 1)
}

func (m *Map) add(text, unit, source, width, times int) {
	if m.lost || unit <= 0 || width <= 0 || times <= 0 {
		return
	}
	if source < m.end { // a part of what came before, which has all of it
		return
	}
	end := source + width*times
	if uint64(max(text, end)) > math.MaxUint32 || len(m.runs) == maxRuns {
		m.runs, m.lost = nil, true
		return
	}
	m.end = end
	next := run{uint32(text), uint32(source), uint32(unit), uint32(width)}
	if len(m.runs) == 0 || !m.runs[len(m.runs)-1].continues(next) {
		m.runs = append(m.runs, next)
	}
}

// continues reports whether next says nothing new.
func (r run) continues(next run) bool {
	text := next.text - r.text
	return r.unit == next.unit && r.width == next.width && text%r.unit == 0 && text/r.unit*r.width == next.source-r.source
}

// Range returns the half-open range of the source that text[start:end] came from,
// with all that stands in between. ok is false if that is not known.
func (m *Map) Range(start, end int) (from, to int, ok bool) {
	if len(m.runs) == 0 || start < 0 || end <= start {
		return 0, 0, false
	}
	first, last := m.at(start), m.at(end-1)
	r := m.runs[first]
	from = min(int(r.source)+max(0, start-int(r.text))/int(r.unit)*int(r.width), m.limit(first))
	r = m.runs[last]
	units := (max(0, end-int(r.text)) + int(r.unit) - 1) / int(r.unit)
	to = min(int(r.source)+units*int(r.width), m.limit(last))
	return from, max(from, to), true
}

// at is the run that a place of the text is in.
func (m *Map) at(text int) int {
	return max(0, sort.Search(len(m.runs), func(i int) bool { return int(m.runs[i].text) > text })-1)
}

// limit is where in the source a run must have ended.
func (m *Map) limit(i int) int {
	if i+1 < len(m.runs) {
		return int(m.runs[i+1].source)
	}
	return m.end
}

// Copy notes that the text has from an offset on what the text of another map has
// between start and end.
func (m *Map) Copy(text int, of *Map, start, end int) {
	if of.lost {
		m.runs, m.lost = nil, true
	}
	for i := of.at(start); !m.lost && i < len(of.runs) && int(of.runs[i].text) < end; i++ {
		r := of.runs[i]
		upTo := end
		if i+1 < len(of.runs) {
			upTo = min(end, int(of.runs[i+1].text))
		}
		at, unit, width := max(start, int(r.text)), int(r.unit), int(r.width)
		for at < upTo {
			skipped := (at - int(r.text)) / unit
			source := int(r.source) + skipped*width
			if unit == width {
				m.Verbatim(text+at-start, source+(at-int(r.text))%unit, upTo-at)
				break
			}
			n := min(int(r.text)+(skipped+1)*unit, upTo) - at
			m.Unit(text+at-start, n, source, width)
			at += n
		}
	}
}

// Through is a text that was made in two steps: First made it of what Second made
// of the source.
type Through struct{ First, Second *Map }

// Range is as that of a [Map].
func (t Through) Range(start, end int) (from, to int, ok bool) {
	if from, to, ok = t.First.Range(start, end); !ok {
		return 0, 0, false
	}
	return t.Second.Range(from, to)
}
