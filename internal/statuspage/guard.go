package statuspage

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// policy lets the page run its own script and style and speak to its own server,
// and nothing else; nobody may show it in a frame. Trusted types make of text that
// is taken for HTML an error.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded sets the headers of every answer, and lets in only who names this machine
// by a name that nobody else can give it.
func (s *site) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.cfg.Loopback && !ownName(r.Host) {
			refuse(w, http.StatusForbidden, "this page answers to localhost and 127.0.0.1 only, and was asked for by another name")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownName reports whether host, with any port (somebody may forward one), can only
// mean the loopback interface.
func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// looking guards what has the tenants' names.
func (s *site) looking(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.cfg.Loopback && !s.holder(w, r, "beyond this machine the fleet is shown only to who has the token: start the worker with --token-file, or with --listen on 127.0.0.1") {
			return
		}
		next(w, r)
	})
}

// holder reports whether the request has the token; otherwise it is answered, with
// 403 and the text without if nobody could have one.
func (s *site) holder(w http.ResponseWriter, r *http.Request, without string) bool {
	if s.cfg.Token == nil {
		refuse(w, http.StatusForbidden, without)
		return false
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		if r.Header.Get("Authorization") != "" {
			s.guesses.heard(r)
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="weirkeeper"`)
		refuse(w, http.StatusUnauthorized, "this needs the token of the worker, as a bearer")
		return false
	}
	// Of hashes, so that the time says nothing of the length either.
	token := s.cfg.Token()
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	if len(token) < MinToken || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		s.guesses.heard(r)
		w.Header().Set("WWW-Authenticate", `Bearer realm="weirkeeper", error="invalid_token"`)
		refuse(w, http.StatusUnauthorized, "this is not the token of the worker")
		return false
	}
	return true
}
