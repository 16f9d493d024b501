package extraction

import "maps"

// Keys of the marks that readers of files make. The metadata of a chunk has the
// value that is true where it begins, and under the key and "_end" the one that is
// true where it ends, if that is another.
const (
	MarkPage    = "page"       // page of a PDF, from 1
	MarkSection = "section"    // text of the last heading
	MarkSpine   = "spine_item" // file within an EPUB
)

// Mark is a place in a document's text from which on something is true of its
// source, up to the next mark of the same key: the page, the section.
type Mark struct {
	Offset int // in bytes of the text
	Key    string
	Value  string
}

// marker turns marks, which are in order, into the metadata of chunks, which are
// in order, too.
type marker struct {
	marks   []Mark // those that were not passed
	current map[string]string
}

// metadata adds to base what is marked between start and end. Keys that base has
// stay. Without marks it is base itself.
func (m *marker) metadata(base map[string]string, start, end int) map[string]string {
	for len(m.marks) > 0 && m.marks[0].Offset <= start {
		if m.current == nil {
			m.current = map[string]string{}
		}
		m.current[m.marks[0].Key] = m.marks[0].Value
		m.marks = m.marks[1:]
	}
	first, last := maps.Clone(m.current), map[string]string{}
	for _, mark := range m.marks {
		if mark.Offset >= end {
			break
		}
		if first == nil {
			first = map[string]string{}
		}
		if _, ok := first[mark.Key]; !ok {
			first[mark.Key] = mark.Value
		}
		last[mark.Key] = mark.Value
	}
	if len(first) == 0 {
		return base
	}
	out := map[string]string{}
	for key, value := range first {
		out[key] = value
		if end, ok := last[key]; ok && end != value {
			out[key+"_end"] = end
		}
	}
	maps.Copy(out, base)
	return out
}
