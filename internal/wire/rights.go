package wire

import (
	"context"
	"errors"
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

// MissingRights returns what a worker of the namespace has to do and this
// connection may not, as "publish to SUBJECT" and "subscribe to SUBJECT". It
// finds out by asking, in ways that change nothing: requests that are refused for their
// content, and messages that no stream takes. probe is a tenant, and a key in
// every bucket, that nobody uses. A right that is not missing may still be too narrow:
// that a worker may pull for one tenant says nothing of another.
func MissingRights(ctx context.Context, js jetstream.JetStream, n Names, probe string) ([]string, error) {
	var missing []string
	for _, subject := range []string{n.ArrivedFilter(), "$LEDGERFEED." + n.RateLimitBucket() + "." + probe} {
		allowed, err := maySubscribe(ctx, js.Conn(), subject)
		if err != nil {
			return nil, err
		}
		if !allowed {
			missing = append(missing, "subscribe to "+subject)
		}
	}
	questions := n.rights(apiPrefix(js), probe)
	allowed := make([]bool, len(questions))
	var wg sync.WaitGroup
	for i, question := range questions {
		wg.Go(func() { allowed[i] = mayAsk(ctx, js.Conn(), question) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, question := range questions {
		if !allowed[i] {
			missing = append(missing, "publish to "+question.Subject)
		}
	}
	return missing, nil
}

// rights are messages on every subject that a worker publishes to, one for each
// right. None of them is of any effect.
func (n Names) rights(api, probe string) []*nats.Msg {
	var all []*nats.Msg
	broken := func(request string) {
		all = append(all, &nats.Msg{Subject: api + request, Data: []byte("{")})
	}
	stored := func(subject string) { all = append(all, refusable(subject)) }
	var streams []string
	for _, s := range n.Streams() {
		streams = append(streams, s.Name)
	}
	for _, bucket := range []string{n.CircuitBucket(), n.RateLimitBucket(), n.AttemptsBucket(), n.LimitsBucket(), n.PauseBucket(), n.WorkersBucket()} {
		streams = append(streams, "KV_"+bucket)
	}
	for _, stream := range append(streams, "LEDGER_"+n.RateLimitBucket()) {
		broken("STREAM.INFO." + stream)
		broken("STREAM.CREATE." + stream)
	}
	for _, bucket := range n.OperatorBuckets() { // workers read them whole
		reader := "KV_" + bucket.Bucket + "." + probe
		broken("CONSUMER.CREATE." + reader + ".$KV." + bucket.Bucket + ".>")
		broken("CONSUMER.MSG.NEXT." + reader)
	}
	lane := n.ChunkStream() + "." + n.Lane(EncodeToken(probe))
	broken("CONSUMER.CREATE." + lane + "." + n.ChunkSubject(probe))
	broken("CONSUMER.INFO." + lane)
	broken("CONSUMER.MSG.NEXT." + lane)
	broken("CONSUMER.MSG.NEXT." + n.DocumentStream() + "." + probe)
	for _, stream := range []string{n.ChunkStream(), n.DocumentStream()} {
		all = append(all, &nats.Msg{Subject: strings.Join([]string{"$JS.ACK", stream, probe, "1.1.1.1.0"}, ".")})
	}
	stored(n.ChunkSubject(probe))
	stored(n.ResultSubject(probe, probe, 0))
	stored(n.DeadSubject(probe))
	stored("$KV." + n.CircuitBucket() + "." + probe)
	stored("$KV." + n.AttemptsBucket() + "." + probe)
	stored("$KV." + n.WorkersBucket() + "." + probe + "." + probe)
	stored("$LEDGER." + n.RateLimitBucket() + "." + probe)
	return all
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

// mayAsk reports whether a message reaches the server: any answer will do, also
// that nobody is there to receive it. One without permission is dropped.
func mayAsk(ctx context.Context, nc *nats.Conn, m *nats.Msg) bool {
	ctx, cancel := context.WithTimeout(ctx, rightsTimeout)
	defer cancel()
	_, err := nc.RequestMsgWithContext(ctx, m)
	return err == nil || errors.Is(err, nats.ErrNoResponders)
}

func maySubscribe(ctx context.Context, nc *nats.Conn, subject string) (bool, error) {
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
	// The refusal of a subscription comes before the answer to the flush.
	last := nc.LastError()
	return !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`), nil
}
