package extraction

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// number is a number at its place in a folded text.
type number struct {
	start, end int
	value      string // see [canonical]
}

// eachNumber are the numbers of a folded text, in order: runs of digits, also inside words,
// with a dot or a comma between two.
func eachNumber(folded string) (list []number) {
	for i := 0; i < len(folded); {
		r, n := rune(folded[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(folded[i:])
		}
		if digitValue(r) < 0 {
			i += n
			continue
		}
		start, digits := i, make([]byte, 0, 16)
		for i < len(folded) {
			r, n := utf8.DecodeRuneInString(folded[i:])
			next, _ := utf8.DecodeRuneInString(folded[i+n:])
			if v := digitValue(r); v >= 0 {
				digits = append(digits, byte('0'+v))
			} else if (r == '.' || r == ',') && digitValue(next) >= 0 {
				digits = append(digits, '.')
			} else {
				break
			}
			i += n
		}
		for _, value := range canonical(string(digits)) {
			list = append(list, number{start, i, value})
		}
	}
	return list
}

// canonical is what digits with dots between them say: "1.000" may be a thousand in groups
// of three digits; one other dot is that of a fraction; more, as in a date or a version,
// stand between numbers. Zeros in front say nothing.
func canonical(digits string) []string {
	parts := strings.Split(digits, ".")
	grouped := len(parts[0]) <= 3
	for _, part := range parts[1:] {
		grouped = grouped && len(part) == 3
	}
	switch {
	case grouped:
		parts = []string{strings.Join(parts, "")}
	case len(parts) == 2:
		return []string{withoutZeros(parts[0]) + "." + parts[1]}
	}
	for i, part := range parts {
		parts[i] = withoutZeros(part)
	}
	return parts
}

func withoutZeros(digits string) string {
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0"
	}
	return digits
}

// digitValue is what a digit of the frequent scripts says, or -1.
func digitValue(r rune) int {
	switch {
	case '0' <= r && r <= '9':
		return int(r - '0')
	case r < 0x0660:
	case r <= 0x0669: // Arabic
		return int(r - 0x0660)
	case 0x06F0 <= r && r <= 0x06F9: // Persian
		return int(r - 0x06F0)
	case 0x0966 <= r && r <= 0x096F: // Devanagari
		return int(r - 0x0966)
	case 0x0E50 <= r && r <= 0x0E59: // Thai
		return int(r - 0x0E50)
	}
	return -1
}

// numbersOf are the numbers that a passage must have to speak of a folded name. The month of
// a date such as 2020-03-15 may stand there as a word.
func numbersOf(folded string) (values []string) {
	list := eachNumber(folded)
	for i, n := range list {
		month := i > 0 && n.end-n.start == 2 && list[i-1].end-list[i-1].start == 4 && list[i-1].end+1 == n.start && folded[n.start-1] == '-'
		if !month {
			values = append(values, n.value)
		}
	}
	return values
}

// onlyNumbers reports whether a name has no words of its own but numbers: "1,000 people".
func (n *name) onlyNumbers() bool {
	return len(n.own) > 0 && len(n.dense) == 0 && !slices.ContainsFunc(n.own, func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool { return digitValue(r) < 0 })
	})
}

// hasNumbers reports whether a passage has all numbers of a name.
func (t *indexed) hasNumbers(p passage, n *name) bool {
	if len(n.numbers) == 0 {
		return true
	}
	if !t.numbered {
		t.numbers, t.numbered = eachNumber(t.folded), true
	}
	first := sort.Search(len(t.numbers), func(i int) bool { return t.numbers[i].start >= p.start })
	for _, value := range n.numbers {
		i := first
		for i < len(t.numbers) && t.numbers[i].end <= p.end && t.numbers[i].value != value {
			i++
		}
		if i == len(t.numbers) || t.numbers[i].end > p.end {
			return false
		}
	}
	return true
}

// splitsNumber reports whether an offset lies inside a number, at a dot or a comma between
// two of its digits.
func splitsNumber(text string, at int) bool {
	if at < 1 || at >= len(text) {
		return false
	}
	mark := at
	if c := text[at]; c != '.' && c != ',' {
		mark--
	}
	if mark < 1 || mark+1 == len(text) || text[mark] != '.' && text[mark] != ',' {
		return false
	}
	return '0' <= text[mark-1] && text[mark-1] <= '9' && '0' <= text[mark+1] && text[mark+1] <= '9'
}

// isNumeral reports whether a word, as written, is a Roman numeral below 40.
func isNumeral(word string) bool {
	for range 3 {
		if len(word) > 1 && word[0] == 'X' {
			word = word[1:]
		}
	}
	switch word {
	case "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X":
		return true
	}
	return false
}
