package openai

import (
	"encoding/base64"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxDetailBytes = 300      // of an error's detail
	maxSearchBytes = 64 << 10 // of a message that is searched for secrets
	maxHiddenBytes = 4 << 10  // of a message that is searched for document text
	shortestSecret = 4        // bytes; hiding shorter ones would only garble the text
	echoBytes      = 16       // a run of the document this long is an echo, not chance
)

// anyKey is what keys look like, should the server name somebody else's.
var anyKey = regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{8,}|(?i:bearer)\s+[^\s"',]+`)

// redactor makes texts of servers fit to be shown.
type redactor struct{ secrets []string }

// newRedactor hides the keys, and what else of the configuration is a secret.
func newRedactor(c Config, keys ...string) redactor {
	var r redactor
	for _, secret := range slices.Concat(keys, values(c.Header), proxySecrets(os.Getenv)) {
		// "Bearer abc" hides abc, too.
		for _, s := range append(strings.Fields(secret), secret) {
			if len(s) >= shortestSecret {
				r.secrets = append(r.secrets, s)
			}
		}
	}
	// The longest first: a shorter one may be a part of it.
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	return r
}

// proxySecrets are the users and passwords of the proxies in the environment, and
// addresses with one that net/http would quote because it cannot read them.
func proxySecrets(getenv func(string) string) []string {
	var out []string
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		address := getenv(name)
		at := strings.LastIndexByte(address, '@')
		if at < 0 {
			continue
		}
		user := address[strings.Index(address, "://")+1 : at]
		user = strings.TrimLeft(user, ":/")
		for _, form := range []string{user, unescaped(user)} {
			_, password, _ := strings.Cut(form, ":")
			out = append(out, form, password, base64.StdEncoding.EncodeToString([]byte(form))) // the last is what the proxy is sent
		}
		out = append(out, address)
	}
	return out
}

func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func values(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// detail is a message in one bounded line of valid UTF-8, without secrets and
// without what it echoes of the document.
func (r redactor) detail(message, document string) string {
	if len(message) > maxSearchBytes {
		message = message[:maxSearchBytes]
	}
	message = hideText(r.hideSecrets(message), document)
	message = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(message, "?"))
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxDetailBytes {
		message = strings.ToValidUTF8(message[:maxDetailBytes], "") + "..."
	}
	return message
}

// hideSecrets replaces every secret, and at the end the beginning of one: the
// text may have been cut in the middle of it.
func (r redactor) hideSecrets(message string) string {
	const mask = "[redacted]"
	for _, secret := range r.secrets {
		message = strings.ReplaceAll(message, secret, mask)
	}
	for _, secret := range r.secrets {
		for n := min(len(secret), len(message)); n >= shortestSecret; n-- {
			if rest, cut := strings.CutSuffix(message, secret[:n]); cut {
				message = rest + mask
				break
			}
		}
	}
	return anyKey.ReplaceAllString(message, mask)
}

// hideText replaces what a message repeats of the document. Runs that are only
// a few bytes apart, as when line breaks come back as \n, are hidden as one.
func hideText(message, document string) string {
	if len(message) > maxHiddenBytes {
		message = message[:maxHiddenBytes]
	}
	const mask = "[text]"
	if document == "" {
		return message
	}
	if len(document) < echoBytes {
		return strings.ReplaceAll(message, document, mask)
	}
	if len(message) < echoBytes {
		return message
	}
	echoed := make(map[string]bool, len(message))
	for i := 0; i+echoBytes <= len(message); i++ {
		echoed[message[i:i+echoBytes]] = false
	}
	found := false
	for i := 0; i+echoBytes <= len(document); i++ {
		if already, ok := echoed[document[i:i+echoBytes]]; ok && !already {
			echoed[document[i:i+echoBytes]] = true
			found = true
		}
	}
	if !found {
		return message
	}
	var out strings.Builder
	hiddenTo, start := -1, 0 // end of the run being hidden, start of what is kept
	for i := 0; i+echoBytes <= len(message); i++ {
		if !echoed[message[i:i+echoBytes]] {
			continue
		}
		if hiddenTo < 0 || i > hiddenTo+echoBytes {
			out.WriteString(message[start:i] + mask)
		}
		hiddenTo = i + echoBytes
		start = hiddenTo
	}
	out.WriteString(message[start:])
	return out.String()
}
