package prose

import (
	"regexp"
	"strings"
)

// block is a paragraph, heading, list item or table cell: the unit that no
// sentence crosses.
type block struct {
	spans []span
	title bool
}

// span is a byte range of visible text, or of something opaque in it.
type span struct {
	start, end int
	opaque     bool
}

var (
	fence      = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-{3,}|\*{3,}|_{3,})[ \t]*$`)
	itemMarker = regexp.MustCompile(`^[ \t]*(?:[-*+•–]|\(?[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
	quoteMark  = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)+`)
	reference  = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:[ \t]*\S+`)
	statement  = regexp.MustCompile(`^(?:from [\w.]+ import|import [\w.*]+$|async def |def \w+\(|class \w+[(:]|func \w*\(|try:|except |raise [A-Z]\w+|@\w+\(|[\w.]+ :?= |-\w,? --)`)
	tableRule  = regexp.MustCompile(`^[ \t|:+=-]+$`)
)

// blocks reads the text line by line. A paragraph goes on over single line
// breaks; everything that Markdown or layout sets apart starts a new block.
func blocks(text string) []block {
	var (
		out    []block
		lines  []span // of the paragraph being read
		fenced string
		item   bool // the paragraph is a list item
		quoted bool // it is in a block quote
	)
	flush := func(title bool) {
		if len(lines) > 0 {
			out = append(out, block{spans: inline(text, lines), title: title})
			lines = nil
		}
		item = false
	}
	for at := 0; at < len(text); {
		end := at + lineLength(text[at:])
		start, line := at, strings.TrimRight(text[at:end], "\r\n")
		at = end
		if fenced != "" {
			if m := fence.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], fenced) {
				fenced = ""
			}
			continue
		}
		if m := fence.FindStringSubmatch(line); m != nil {
			flush(false)
			fenced = m[1]
			continue
		}
		m := quoteMark.FindString(line)
		if (m != "") != quoted {
			flush(looksLikeTitle(text, lines, item))
			quoted = m != ""
		}
		start, line = start+len(m), line[len(m):]
		whole := span{start: start, end: start + len(line)}
		switch {
		case strings.TrimSpace(line) == "":
			flush(looksLikeTitle(text, lines, item))
		case underline.MatchString(line):
			flush(len(lines) == 1)
		case isTableRow(line):
			flush(false)
			for _, cell := range cells(whole, line) {
				lines = []span{cell}
				flush(true)
			}
		case reference.MatchString(line) || codeLike(line):
			flush(false)
		case heading.MatchString(line):
			flush(false)
			hashes := strings.IndexByte(line, '#')
			for hashes < len(line) && line[hashes] == '#' {
				hashes++
			}
			lines = []span{{start: start + hashes, end: whole.end}}
			flush(true)
		default:
			if m := itemMarker.FindString(line); m != "" {
				flush(looksLikeTitle(text, lines, item))
				whole.start += len(m)
				item = true
			}
			lines = append(lines, whole)
		}
	}
	// A text of one line is somebody's sentence, with or without a full stop.
	flush(len(out) > 0 && looksLikeTitle(text, lines, item))
	return out
}

// lineLength returns the bytes up to and with the line break.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

func isTableRow(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), "|") || strings.Count(line, " | ") > 1
}

func cells(whole span, line string) []span {
	if tableRule.MatchString(line) {
		return nil
	}
	var out []span
	from := 0
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == '|' {
			if strings.TrimSpace(line[from:i]) != "" {
				out = append(out, span{start: whole.start + from, end: whole.start + i})
			}
			from = i + 1
		}
	}
	return out
}

// codeLike reports a line that is a command, a statement or data rather than a
// sentence: much punctuation that prose does not use.
func codeLike(line string) bool {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "$ ") || strings.HasPrefix(trimmed, "<!--") || strings.HasPrefix(trimmed, "//") || statement.MatchString(trimmed) {
		return true
	}
	signs, letters := 0, 0
	for i := 0; i < len(trimmed); i++ {
		switch c := trimmed[i]; {
		case strings.IndexByte("{}()[]<>=;$_\\^~+#|@`*/&", c) >= 0:
			signs++
		case c >= 0x80, c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		}
	}
	if last := trimmed[len(trimmed)-1]; (last == '{' || last == '}') && letters < 200 {
		return true
	}
	return signs*4 > letters && !strings.Contains(trimmed, "](") && !strings.Contains(trimmed, "`") && !strings.Contains(trimmed, "**")
}

// looksLikeTitle reports a short single line without a full stop in which
// most words are capitalised, or which has hardly any words. A list item is a
// title only if every word is capitalised.
func looksLikeTitle(text string, lines []span, item bool) bool {
	if len(lines) != 1 {
		return false
	}
	line := strings.TrimSpace(text[lines[0].start:lines[0].end])
	if line == "" || len(line) > 100 || strings.ContainsAny(line[len(line)-1:], ".!?,;:\"") {
		return false
	}
	words := strings.Fields(line)
	capitals := 0
	for _, w := range words {
		if w = strings.TrimLeft(w, "*_`[(\"'"); w != "" && (w[0] < 'a' || w[0] > 'z') {
			capitals++
		}
	}
	if item {
		return capitals == len(words)
	}
	return capitals*2 > len(words) || len(words) <= 4
}
