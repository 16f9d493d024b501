package wire

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// rightsTimeout is how long a server may take to answer before its silence
// counts as a no.
const rightsTimeout = 3 * time.Second

// nowhere is the name of a stream that does not exist: a message that expects to
// be stored there is refused.
const nowhere = "WEIR_NOWHERE"

// MissingRights returns which of the rights of [RoleWorker] this connection does not
// have, as "publish to SUBJECT" and "subscribe to SUBJECT", and those to create what
// does not exist yet. It finds out by asking, in ways that change nothing: requests
// that are refused for their content, and messages that no stream takes. probe is a
// tenant, and a key in every bucket, that nobody uses. A right that is not missing may
// still be too narrow: that a worker may pull for one tenant says nothing of another.
func MissingRights(ctx context.Context, js jetstream.JetStream, n Names, probe string) ([]string, error) {
	missing, err := LostSubscriptions(ctx, js.Conn(), n)
	if err != nil {
		return nil, err
	}
	absent, err := n.absent(ctx, js)
	if err != nil {
		return nil, err
	}
	subjects := slices.DeleteFunc(n.rightsToWork().Publish, spared)
	for _, stream := range absent {
		subjects = append(subjects, jetstream.DefaultAPIPrefix+"STREAM.CREATE."+stream)
	}
	unasked, err := refused(ctx, js, subjects, probe)
	return append(missing, unasked...), err
}

// LostRights is [MissingRights] for a worker that runs: what it has to publish to and
// may not, of the shared state only if it has stores there. Without an inbox, see
// [OfInbox], everything would seem to be missing.
func LostRights(ctx context.Context, js jetstream.JetStream, n Names, probe string, stores bool) ([]string, error) {
	subjects := slices.DeleteFunc(n.rightsToWork().Publish, func(subject string) bool {
		ofStore := slices.ContainsFunc(n.stateBuckets(), func(bucket string) bool {
			return strings.Contains(subject, "_"+bucket) || strings.Contains(subject, "."+bucket)
		})
		return spared(subject) || ofStore && !stores
	})
	return refused(ctx, js, subjects, probe)
}

// LostSubscriptions returns what the connection of a worker may not subscribe to, as
// "subscribe to SUBJECT". Its own inbox is the first.
func LostSubscriptions(ctx context.Context, nc *nats.Conn, n Names) ([]string, error) {
	var lost []string
	heard, err := maySubscribe(ctx, nc, nc.NewInbox())
	if err != nil {
		return nil, err
	}
	if !heard {
		lost = append(lost, inboxRight(nc))
	}
	for _, subject := range n.rightsToWork().Subscribe {
		if subject == RoleWorker.InboxPrefix()+".>" {
			continue
		}
		allowed, err := maySubscribe(ctx, nc, subject)
		if err != nil {
			return nil, err
		}
		if !allowed {
			lost = append(lost, "subscribe to "+subject)
		}
	}
	return lost, nil
}

// OfInbox reports whether a right of those that [LostSubscriptions] returns is that to
// have answers.
func OfInbox(nc *nats.Conn, right string) bool { return right == inboxRight(nc) }

func inboxRight(nc *nats.Conn) string {
	prefix := nc.Opts.InboxPrefix
	if prefix == "" {
		prefix = strings.TrimSuffix(nats.InboxPrefix, ".")
	}
	return "subscribe to " + prefix + ".>"
}

// refused are those of the subjects that the connection may not publish to.
func refused(ctx context.Context, js jetstream.JetStream, subjects []string, probe string) (missing []string, err error) {
	allowed := make([]bool, len(subjects))
	var wg sync.WaitGroup
	for i, subject := range subjects {
		wg.Go(func() { allowed[i] = mayAsk(ctx, js.Conn(), harmless(subject, APIPrefix(js), probe)) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, subject := range subjects {
		if !allowed[i] {
			missing = append(missing, "publish to "+subject)
		}
	}
	return missing, nil
}

// rightsToWork are those of [RoleWorker] without which a worker does not work.
func (n Names) rightsToWork() Rights {
	r := rights{n: n}
	r.worker()
	r.subscribe(RoleWorker.InboxPrefix() + ".>")
	return r.Rights
}

// spared are rights that a worker can do without: only worker check uses them, to
// tidy up, and to tell how full the account is.
func spared(subject string) bool {
	return strings.HasPrefix(subject, jetstream.DefaultAPIPrefix+"STREAM.PURGE.") || subject == jetstream.DefaultAPIPrefix+"INFO"
}

// absent are the streams that do not exist. One that cannot be asked for counts as
// there: that right is missing, too, and named.
func (n Names) absent(ctx context.Context, js jetstream.JetStream) ([]string, error) {
	all := n.allStreams()
	missing := make([]bool, len(all))
	var wg sync.WaitGroup
	for i, stream := range all {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, rightsTimeout)
			defer cancel()
			_, err := js.Stream(ctx, stream)
			missing[i] = errors.Is(err, jetstream.ErrStreamNotFound)
		})
	}
	wg.Wait()
	var absent []string
	for i, stream := range all {
		if missing[i] {
			absent = append(absent, stream)
		}
	}
	return absent, ctx.Err()
}

// harmless is a message on a subject of that right, of no effect. JetStream refuses
// requests whose body is broken, and those that should have none.
func harmless(right, api, probe string) *nats.Msg {
	if request, ok := strings.CutPrefix(right, jetstream.DefaultAPIPrefix); ok {
		return &nats.Msg{Subject: api + strings.NewReplacer("*", probe, ">", probe).Replace(request), Data: []byte("{")}
	}
	if ack, ok := strings.CutSuffix(right, ".>"); ok && strings.HasPrefix(right, "$JS.ACK.") {
		return &nats.Msg{Subject: ack + "." + probe + ".1.1.1.1.0"}
	}
	return refusable(strings.NewReplacer("*", probe, ">", probe).Replace(right))
}

// refusable is a message that no stream takes.
func refusable(subject string) *nats.Msg {
	return &nats.Msg{Subject: subject, Header: nats.Header{nats.ExpectedStreamHdr: {nowhere}}}
}

// MayPublish reports whether this connection may publish to a subject of a
// stream. Nothing is stored.
func MayPublish(ctx context.Context, nc *nats.Conn, subject string) bool {
	return mayAsk(ctx, nc, refusable(subject))
}

// MayCreate reports whether this connection may create a stream of that name. None is
// created.
func MayCreate(ctx context.Context, js jetstream.JetStream, stream string) bool {
	return mayAsk(ctx, js.Conn(), harmless(jetstream.DefaultAPIPrefix+"STREAM.CREATE."+stream, APIPrefix(js), ""))
}

// mayAsk reports whether a message reaches the server: any answer will do, also
// that nobody is there to receive it. One without permission is dropped.
func mayAsk(ctx context.Context, nc *nats.Conn, m *nats.Msg) bool {
	ctx, cancel := context.WithTimeout(ctx, rightsTimeout)
	defer cancel()
	_, err := nc.RequestMsgWithContext(ctx, m)
	return err == nil || errors.Is(err, nats.ErrNoResponders)
}

func maySubscribe(ctx context.Context, nc *nats.Conn, subject string) (bool, error) {
	before := nc.LastError()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where there is nothing left
	ctx, cancel := context.WithTimeout(ctx, rightsTimeout)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		return false, err
	}
	// The refusal of a subscription comes before the answer to the flush. That of an
	// earlier one says nothing.
	last := nc.LastError()
	return errors.Is(before, nats.ErrPermissionViolation) && last == before || !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`), nil
}

// Unanswered is err, or an [*AccessError] if the server said that the request is not
// allowed: it answers such a request with silence, and tells the connection why
// beside it.
func Unanswered(js jetstream.JetStream, object, request string, err error) error {
	right := APIPrefix(js) + request
	if denied := deniedPublish(js.Conn(), right); denied != nil {
		return &AccessError{Object: object, Right: right, Err: denied}
	}
	return err
}

// deniedPublish is what the server said last, if that was that this subject may not
// be published to.
func deniedPublish(nc *nats.Conn, subject string) error {
	last := nc.LastError()
	if errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), `Publish to "`+subject+`"`) {
		return last
	}
	return nil
}
