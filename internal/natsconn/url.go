package natsconn

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"
)

// ServerURL is where a connection leads, without user, password or token; "" if
// it leads nowhere at the moment.
func ServerURL(nc *nats.Conn) string {
	u, err := url.Parse(nc.ConnectedUrl())
	if err != nil {
		return "a server whose URL cannot be read"
	}
	u.User = nil
	return u.String()
}

// hasUser reports whether any of the URLs says who this is.
func hasUser(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		if u, err := parse(server); err == nil && u.User != nil {
			return true
		}
	}
	return false
}

func parse(server string) (*url.URL, error) {
	server = strings.TrimSpace(server)
	if !strings.Contains(server, "://") {
		server = "nats://" + server
	}
	return url.Parse(server)
}

// plainSubject reports whether s is a subject without wildcards, in plain letters.
func plainSubject(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}) {
			return false
		}
	}
	return true
}

// redact leaves out the user, password or token of each URL. The error names no
// part of a URL that cannot be read.
func redact(servers string) (string, error) {
	var shown []string
	for server := range strings.SplitSeq(servers, ",") {
		u, err := parse(server)
		if err != nil || u.Host == "" {
			return "", &OptionError{"nats-url", "not a URL like nats://host:4222"}
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return "", &OptionError{"nats-url", fmt.Sprintf("scheme %q: want nats, tls, ws or wss", u.Scheme)}
		}
		u.User = nil
		shown = append(shown, u.String())
	}
	return strings.Join(shown, ","), nil
}
