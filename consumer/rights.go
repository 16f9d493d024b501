package consumer

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// rightsProbe is a tenant, and a key in buckets, that nobody uses.
const rightsProbe = "weirkeeper-rights"

// refusals notices that the server does not allow any more what a worker needs.
// Somebody who takes rights away does not end the connection: the server answers with
// silence, and a subscription that it has ended stays ended when the right is back.
type refusals struct {
	seen    error // the last refusal that was looked into
	missing []string
	deaf    bool // a subscription was ended
	mute    bool // that to the answers to all requests, too
}

// look returns which rights are missing. It only asks the server if that has refused
// something since, or rights were missing at the last look. regained says that none
// is missing any more.
func (r *refusals) look(ctx context.Context, w *Worker) (missing error, regained bool) {
	conn := w.js.Conn()
	last := conn.LastError()
	if !errors.Is(last, nats.ErrPermissionViolation) {
		last = nil
	}
	if len(r.missing) == 0 && (last == nil || last == r.seen) {
		return nil, false
	}
	r.deaf = r.deaf || last != nil && last != r.seen && strings.Contains(strings.ToLower(last.Error()), "for subscription")
	unheard, err := wire.LostSubscriptions(ctx, conn, w.names)
	var lost []string
	if err == nil && len(unheard) == 0 && r.deaf {
		w.log.Info("connects again, to hear what it was not allowed to hear for a while")
		if err = conn.ForceReconnect(); err == nil {
			r.deaf = false
		}
		return r.error(), false // the rest is asked when that is done
	}
	r.mute = err == nil && len(unheard) > 0 && wire.OfInbox(conn, unheard[0])
	if err == nil && !r.mute {
		lost, err = wire.LostRights(ctx, w.js, w.names, rightsProbe, w.cfg.EnsureStores != nil)
	}
	if err != nil {
		return r.error(), false // asked again at the next look
	}
	r.deaf = r.deaf || len(unheard) > 0
	before := len(r.missing)
	r.missing, r.seen = append(unheard, lost...), nil
	if last := conn.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
		r.seen = last // looking is refused, too
	}
	return r.error(), before > 0 && len(r.missing) == 0
}

func (r *refusals) error() error {
	if len(r.missing) == 0 {
		return nil
	}
	return &rightsError{r.missing}
}

// rightsError names what the server does not allow.
type rightsError struct{ missing []string }

func (e *rightsError) Error() string {
	return "NATS does not allow this user what a worker needs: " + strings.Join(e.missing, ", ") + "; grant it, see docs/security.md"
}
