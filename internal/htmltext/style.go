package htmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// look is what an element's own attributes say of whether it is seen.
type look struct {
	gone    bool // it and all that is in it
	unseen  bool // it, and what is in it unless that is
	decided bool // unseen was given
}

// lookOf reads the attribute hidden and the style that an element has itself. Style
// sheets and scripts are not looked at. What a browser shows when somebody searches
// for it is seen. A dialog is not until it is open.
func lookOf(t html.Token) (l look) {
	var display string
	closed := t.DataAtom == atom.Dialog
	for _, a := range t.Attr {
		switch a.Key {
		case "open":
			closed = false
		case "hidden":
			l.gone = !strings.EqualFold(strings.TrimSpace(a.Val), "until-found")
		case "style":
			style := declarations(a.Val)
			display = style["display"]
			visibility := style["visibility"]
			l.unseen = visibility == "hidden" || visibility == "collapse"
			l.decided = l.unseen || visibility == "visible"
		}
	}
	l.gone = l.gone || closed
	if display != "" { // it has the last word
		l.gone = display == "none"
	}
	return l
}

// declarations are the properties that a style gives, in lower case.
func declarations(style string) map[string]string {
	out, important := map[string]string{}, map[string]bool{}
	for _, declaration := range splitStyle(style) {
		name, value, ok := strings.Cut(declaration, ":")
		if !ok {
			continue
		}
		name, value = plainStyle(name), plainStyle(value)
		before, flag, flagged := strings.Cut(value, "!")
		if flagged {
			value, flagged = strings.TrimSpace(before), strings.TrimSpace(flag) == "important"
		}
		if important[name] && !flagged {
			continue
		}
		out[name], important[name] = value, flagged
	}
	return out
}

// splitStyle cuts at each ; that is not in quotes, brackets or a comment, and makes white
// space of comments.
func splitStyle(style string) []string {
	var out []string
	var b strings.Builder
	var quote byte
	depth := 0
	for i := 0; i < len(style); i++ {
		c := style[i]
		switch {
		case c == '\\' && i+1 < len(style):
			b.WriteByte(c)
			i++
			b.WriteByte(style[i])
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(style[i:], "/*"):
			end := strings.Index(style[i+2:], "*/")
			if end < 0 {
				return append(out, b.String())
			}
			i += 2 + end + 1
			c = ' '
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == ';' && depth == 0:
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteByte(c)
	}
	return append(out, b.String())
}

// plainStyle is a name or value in lower case, without escapes such as \6e for n.
func plainStyle(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(s); {
			if s[i] != '\\' {
				b.WriteByte(s[i])
				i++
				continue
			}
			i++
			digits := i
			for i < len(s) && i-digits < 6 && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0 {
				i++
			}
			if i == digits {
				continue // the next character, as it is
			}
			n, err := strconv.ParseInt(s[digits:i], 16, 32)
			if err != nil || n > utf8.MaxRune {
				n = utf8.RuneError
			}
			b.WriteRune(rune(n))
			if i < len(s) && isStyleSpace(s[i]) {
				i++
			}
		}
		s = b.String()
	}
	return strings.ToLower(strings.Trim(s, " \t\r\n\f"))
}

func isStyleSpace(c byte) bool { return strings.IndexByte(" \t\r\n\f", c) >= 0 }
