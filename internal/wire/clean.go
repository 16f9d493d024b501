package wire

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxErrorBytes = 512

// secrets matches what must not leave the process even if an error quotes it:
// bearer tokens, API keys, and credentials in a URL.
var secrets = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[^\s"',;]+|\b(sk|pk)-[a-z0-9_\-]{6,}|://[^/\s@]+@|\b(api[_-]?key|token|password|secret)["']?\s*[=:]\s*["']?[^\s"',;&]+`)

// CleanError makes one bounded line of an error's text, without control
// characters and without anything that looks like a secret.
func CleanError(text string) string { return CleanText(text, maxErrorBytes) }

// CleanText is [CleanError] of at most so many bytes.
func CleanText(text string, most int) string {
	text = strings.ToValidUTF8(clip(text, 8*most), "\uFFFD")
	text = secrets.ReplaceAllString(text, "[redacted]")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r)
	}), " ")
	if len(text) > most {
		text = clip(text, most-len("…")) + "…"
	}
	return text
}

// clip shortens s to at most n bytes without splitting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
