package extraction

import "strings"

const (
	// longestGap is how many bytes a quote may leave out at once, of a sentence or two.
	longestGap = 300
	// mostParts is how many parts such a quote may have.
	mostParts = 4
	// mostBeginnings is how many places are tried where its first part stands.
	mostBeginnings = 8
)

// inParts finds where the text has the parts of a folded quote that leaves something out, in
// order and near each other: "Ada Lovelace ... met Charles". Each part must be long enough
// not to stand anywhere.
func (t *indexed) inParts(quote string) (span, bool) {
	parts := strings.FieldsFunc(strings.ReplaceAll(quote, "...", "…"), func(r rune) bool { return r == '…' })
	if len(parts) < 2 || len(parts) > mostParts {
		return span{}, false
	}
	for i := range parts {
		if parts[i] = strings.Trim(parts[i], `"'.,;:[]() `); len(parts[i]) < shortestLoose {
			return span{}, false
		}
	}
	for from, n := 0, 0; n < mostBeginnings; n++ {
		first, found := t.partIn(span{from, len(t.folded)}, parts[0])
		if !found {
			break
		}
		if end, all := t.goOn(first.end, parts[1:]); all {
			return t.original(span{first.start, end}), true
		}
		from = first.end
	}
	return span{}, false
}

// goOn finds where parts end that follow each other behind a place.
func (t *indexed) goOn(end int, parts []string) (int, bool) {
	for _, part := range parts {
		at, found := t.partIn(span{end, min(len(t.folded), end+longestGap+len(part))}, part)
		if !found {
			return 0, false
		}
		end = at.end
	}
	return end, true
}

// partIn finds a part in a range of the folded form, in whole words.
func (t *indexed) partIn(in span, part string) (span, bool) {
	at, found := t.occurrence(t.folded[in.start:in.end], part)
	at = span{in.start + at.start, in.start + at.end}
	return at, found && !joined(t.folded, at.start) && !joined(t.folded, at.end)
}
