package natsconn

import (
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// repeatAfter is how long the log is silent about what it has said already.
	repeatAfter = time.Minute
	// mostRepeats bounds what is remembered of what was said.
	mostRepeats = 256
)

// reporter logs what happens to a connection. What can happen several times a
// second, as what a right is missing for, it tells once a minute.
type reporter struct {
	log *slog.Logger
	who identity
	now func() time.Time

	mu   sync.Mutex
	said map[string]time.Time
}

func newReporter(log *slog.Logger, who identity) *reporter {
	return &reporter{log: log, who: who, now: time.Now, said: map[string]time.Time{}}
}

// due reports whether something was not said lately.
func (r *reporter) due(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if last, ok := r.said[what]; ok && now.Sub(last) < repeatAfter {
		return false
	}
	if len(r.said) >= mostRepeats {
		clear(r.said)
	}
	r.said[what] = now
	return true
}

func (r *reporter) disconnected(_ *nats.Conn, err error) {
	if err != nil {
		r.log.Warn("NATS connection lost, reconnecting", "error", explain(r.who, err).Error())
	}
}

// stillAway hears of every attempt to reconnect that failed.
func (r *reporter) stillAway(_ *nats.Conn, err error) {
	if err == nil {
		return
	}
	if text := explain(r.who, err).Error(); r.due(text) {
		r.log.Warn("NATS connection is not back yet", "error", text)
	}
}

func (r *reporter) back(nc *nats.Conn) {
	r.log.Info("NATS connection is back", "url", ServerURL(nc))
}

func (r *reporter) heard(_ *nats.Conn, sub *nats.Subscription, err error) {
	if right := DeniedRight(err); right != "" {
		switch {
		case !r.due(right):
		case OfDefaultInbox(right):
			r.log.Error("NATS does not allow this user the inbox that is the default: set NATS_INBOX_PREFIX (--nats-inbox-prefix) to what its account allows, see docs/security.md", "right", right)
		default:
			r.log.Error("NATS does not allow this user what it has to do: grant it, see docs/security.md", "right", right)
		}
		return
	}
	text, subject := explain(r.who, err).Error(), ""
	if sub != nil {
		subject = sub.Subject
	}
	if r.due(text + " " + subject) {
		r.log.Warn("NATS reports an error", "error", text, "subject", subject)
	}
}

// OfDefaultInbox reports whether a right, as [DeniedRight] has it, is that to answers
// under the prefix that clients use unless they are told another.
func OfDefaultInbox(right string) bool {
	return strings.HasPrefix(right, "subscribe to "+nats.InboxPrefix)
}

var violation = regexp.MustCompile(`(?i)permissions violation for (publish|subscription) to "([^"]*)"`)

// DeniedRight is the right that a server says is missing, as "publish to SUBJECT"
// or "subscribe to SUBJECT"; "" for other errors.
func DeniedRight(err error) string {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return ""
	}
	found := violation.FindStringSubmatch(err.Error())
	switch {
	case found == nil:
		return ""
	case found[1][0]|0x20 == 'p':
		return "publish to " + found[2]
	default:
		return "subscribe to " + found[2]
	}
}
