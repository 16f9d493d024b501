package extraction

import "strings"

// blockKind is what kind of Markdown block a [block] is.
type blockKind int

const (
	heading blockKind = iota // belongs to what follows it
	fence                    // code between fences: cut at blank lines, else at lines
	table                    // rows: cut between rows, never below the head
)

// block is a part of a text that reads badly when it is cut. Plain text has
// them, too.
type block struct {
	kind       blockKind
	start, end int // half-open range of whole lines
	body       int // of a table: end of its head, where rows begin
}

// blocks finds the blocks of a text from its beginning to its end, each line
// once, only as far as it is asked to.
type blocks struct {
	text     string
	headings []span  // that marks name, those that were not passed
	at       int     // beginning of the first line that was not looked at
	list     []block // those that end at or after the chunk at hand

	open     bool // the last of list goes on
	mark     byte // of an open fence: its character
	marks    int  // and how many of it
	previous int  // beginning of the line before at, if that is a plain line that is not blank, else -1
}

func newBlocks(text string, headings []span) *blocks {
	return &blocks{text: text, headings: headings, previous: -1}
}

// headingsOf are the headings that a text's marks name and that stand in it: a reader of
// files knows them, also where nothing in the text tells.
func headingsOf(text string, marks []Mark) []span {
	var out []span
	for _, m := range marks {
		if m.Key == MarkSection && m.Value != "" && m.Offset >= 0 && m.Offset <= len(text) && strings.HasPrefix(text[m.Offset:], m.Value) {
			out = append(out, span{m.Offset, m.Offset + len(m.Value)})
		}
	}
	return out
}

// isNamed reports whether the line text[start:end] is one of a heading that a mark names.
func (b *blocks) isNamed(start, end int) bool {
	for len(b.headings) > 0 && b.headings[0].end <= start {
		b.headings = b.headings[1:]
	}
	return len(b.headings) > 0 && b.headings[0].start < end
}

// scan looks at all lines that begin before to.
func (b *blocks) scan(to int) {
	for b.at < min(to, len(b.text)) {
		end := len(b.text)
		if i := strings.IndexByte(b.text[b.at:], '\n'); i >= 0 {
			end = b.at + i + 1
		}
		b.line(b.at, end)
		b.at = end
	}
}

// forget drops the blocks that end before offset.
func (b *blocks) forget(offset int) {
	n := 0
	for n < len(b.list) && b.list[n].end < offset && !(b.open && n == len(b.list)-1) {
		n++
	}
	b.list = b.list[n:]
}

// around returns the fence or table that text[:offset] would cut. It looks for
// the end of the block as far as a chunk that begins with it reaches, and not
// further.
func (b *blocks) around(offset int, reach func(from int) int) (block, bool) {
	b.scan(offset + 1)
	if b.open && b.list[len(b.list)-1].start < offset {
		b.scan(reach(b.list[len(b.list)-1].start) + 1)
	}
	return b.holding(offset)
}

// holding returns the fence or table that stands on both sides of offset.
func (b *blocks) holding(offset int) (block, bool) {
	for i := len(b.list) - 1; i >= 0; i-- {
		l := b.list[i]
		if l.end <= offset {
			break
		}
		if l.kind != heading && l.start < offset && skipSpace(b.text[:l.end], offset) < l.end {
			return l, true
		}
	}
	return block{}, false
}

// headingBefore returns the beginning of the headings that stand directly above
// offset, or around it, or offset if there are none.
func (b *blocks) headingBefore(offset int) int {
	for i := len(b.list) - 1; i >= 0; i-- {
		l := b.list[i]
		if l.start >= offset {
			continue
		}
		if l.kind != heading || l.end < offset && skipSpace(b.text[:offset], l.end) < offset {
			break
		}
		offset = l.start
	}
	return offset
}

// line takes in the line text[start:end].
func (b *blocks) line(start, end int) {
	previous := b.previous
	b.previous = -1
	line := strings.Trim(b.text[start:end], " \t\r\n")
	if b.isNamed(start, end) {
		b.add(block{kind: heading, start: start, end: end}, false)
		return
	}
	if b.open {
		last := &b.list[len(b.list)-1]
		switch {
		case last.kind == fence:
			last.end = end
			b.open = !b.closes(line)
			return
		case isRow(line) || line != "" && !isTextRow(b.text[last.start:last.end]) && strings.IndexByte(line, '|') >= 0:
			if last.end == last.body && isRule(line) {
				last.body = end
			}
			last.end = end
			return
		}
		b.open = false
	}
	if line == "" {
		return
	}
	switch line[0] {
	case '#':
		if n := countLeading(line, '#'); n <= 6 && (n == len(line) || line[n] == ' ' || line[n] == '\t') {
			b.add(block{kind: heading, start: start, end: end}, false)
			return
		}
	case '`', '~':
		n := countLeading(line, line[0])
		if n >= 3 && (line[0] == '~' || strings.IndexByte(line[n:], '`') < 0) {
			b.mark, b.marks = line[0], n
			b.add(block{kind: fence, start: start, end: end}, true)
			return
		}
	case '|', '+':
		if isRow(line) {
			if previous >= 0 && isRule(line) && strings.IndexByte(b.text[previous:start], '|') >= 0 {
				start = previous
			}
			b.add(block{kind: table, start: start, end: end, body: end}, true)
			return
		}
	case '-', ':', '=':
		switch {
		case previous < 0:
		case isRule(line) && strings.IndexByte(b.text[previous:start], '|') >= 0:
			b.add(block{kind: table, start: previous, end: end, body: end}, true)
			return
		case line[0] != ':' && len(line) > 1 && countLeading(line, line[0]) == len(line):
			b.add(block{kind: heading, start: previous, end: end}, false) // underlined
			return
		}
	}
	b.previous = start
}

func (b *blocks) add(l block, open bool) {
	b.list = append(b.list, l)
	b.open = open
}

// closes reports whether a line ends the open fence.
func (b *blocks) closes(line string) bool {
	return line != "" && line[0] == b.mark && countLeading(line, b.mark) == len(line) && len(line) >= b.marks
}

// isRow reports whether a line looks like a row of a table that is drawn with
// bars, or one of its rules.
func isRow(line string) bool {
	return line != "" && (line[0] == '|' || line[0] == '+' && len(line) > 2 && strings.Trim(line, "+-=:") == "")
}

// isTextRow reports whether a table's first line begins with a bar: the rows of
// such a table all do.
func isTextRow(rows string) bool {
	rows = strings.TrimLeft(rows, " \t")
	return rows != "" && (rows[0] == '|' || rows[0] == '+')
}

// isRule reports whether a line is the rule below the head of a table.
func isRule(line string) bool {
	return strings.IndexByte(line, '-') >= 0 && strings.IndexByte(line, '|') >= 0 && strings.Trim(line, "|-: \t") == ""
}

func countLeading(line string, mark byte) int {
	n := 0
	for n < len(line) && line[n] == mark {
		n++
	}
	return n
}
