package prose

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markup matches what stands inside a line and is not text. One alternative
// each, tried at the leftmost place: inline code, images, what surrounds the
// text of a link, HTML tags and comments, entities, URLs, mail addresses, emphasis.
var markup = regexp.MustCompile("``[^`\n]+``|`[^`\n]+`" +
	`|!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])` +
	`|\]\([^)\n]*\)|\]\[[^\]\n]*\]|\[` +
	`|<!--.*?-->|</?[A-Za-z][^<>\n]*>` +
	`|&[a-z]{2,6};|&#[0-9]{1,6};` +
	`|(?:https?|ftp|nats|file|ws)s?://[^\s<>)\]]+|www\.[^\s<>)\]]+` +
	`|[\w.+-]+@[\w-]+\.[\w.-]*\w` +
	`|\*{1,3}|__+`)

// inline returns the visible spans of some lines, with what is opaque in them.
func inline(text string, lines []span) []span {
	var out []span
	for _, l := range lines {
		if line := text[l.start:l.end]; !strings.ContainsAny(line, "`[]<&@*_") && !strings.Contains(line, "://") && !strings.Contains(line, "www.") {
			out = words(out, text, l.start, l.end)
			continue
		}
		at := l.start
		for _, m := range markup.FindAllStringIndex(text[l.start:l.end], -1) {
			from, to := l.start+m[0], l.start+m[1]
			out = words(out, text, at, from)
			if !strings.ContainsRune("*_[]!<", rune(text[from])) {
				out = append(out, span{start: from, end: to, opaque: true})
			}
			at = to
		}
		out = words(out, text, at, l.end)
	}
	return out
}

// words adds text[start:end] to the spans with identifiers, paths and flags
// taken out as opaque.
func words(out []span, text string, start, end int) []span {
	from := start
	for at := start; at < end; {
		size := wordLength(text[at:end])
		if size == 0 {
			_, n := utf8.DecodeRuneInString(text[at:end])
			at += n
			continue
		}
		word := strings.TrimRight(text[at:at+size], ".,;:!?'\"")
		if !strings.HasSuffix(word, "()") {
			word = strings.TrimRight(word, ".,;:!?)'\"")
		}
		if lead := len(word) - len(strings.TrimLeft(word, "(\"'")); isIdentifier(word[lead:]) {
			if from < at+lead {
				out = append(out, span{start: from, end: at + lead})
			}
			out = append(out, span{start: at + lead, end: at + len(word), opaque: true})
			from = at + len(word)
		}
		at += size
	}
	if from < end {
		out = append(out, span{start: from, end: end})
	}
	return out
}

// wordLength returns the bytes up to the next white space.
func wordLength(s string) int {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return i
	}
	return len(s)
}

var (
	pathLike = regexp.MustCompile(`^(?:\.{0,2}/|~/)[\w.*-]|^[\w.-]+/[\w.-]+/[\w./-]*$|^[\w-]+/[\w-]*\.\w+$|^[\w.-]+/$`)
	fileLike = regexp.MustCompile(`^[\w-]+\.(?:go|md|txt|json|jsonl|ya?ml|toml|py|js|ts|sh|c|h|cc|cpp|rs|java|html|css|csv|pdf|docx|proto|mod|sum|gz|exe|dll|so|log|conf|cfg)$`)
	dotted   = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$`)
)

// isIdentifier reports words that only code has: snake_case, lowerCamel,
// calls(), --flags, $VARS, paths, file names, dotted.names, key=value.
func isIdentifier(w string) bool {
	if len(w) < 2 || w[0] >= utf8.RuneSelf {
		return false
	}
	if w[0] == '-' && w[1] != ' ' || w[0] == '$' && !isDigit(w[1]) || strings.HasSuffix(w, "()") || strings.HasSuffix(w, "(") {
		return true
	}
	if strings.ContainsAny(w, "_=<>{}\\|") {
		return true
	}
	if strings.IndexByte(w, '/') >= 0 && pathLike.MatchString(w) {
		return true
	}
	if strings.IndexByte(w, '.') >= 0 && (fileLike.MatchString(w) || dotted.MatchString(w) && !isInitials(w) && !abbreviations[strings.ToLower(w)]) {
		return true
	}
	return isLowerCamel(w)
}

// isLowerCamel reports getName and maxSize, but not iPhone or eBay.
func isLowerCamel(w string) bool {
	lower := 0
	for lower < len(w) && 'a' <= w[lower] && w[lower] <= 'z' {
		lower++
	}
	return lower > 1 && lower < len(w) && 'A' <= w[lower] && w[lower] <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
