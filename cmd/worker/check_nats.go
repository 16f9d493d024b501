package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// checkup is one run of `worker check`: what a check has opened the later ones
// use.
type checkup struct {
	flags    *checkCommand
	names    wire.Names
	provider extraction.Provider
	logger   *slog.Logger
	probe    string // begins every name that the checks use
	pace     pace

	conn *nats.Conn // from the check nats on
	js   jetstream.JetStream
}

// other is a second tenant.
func (u *checkup) other() string { return u.probe + "-b" }

func (u *checkup) close() {
	if u.conn != nil {
		u.conn.Close()
	}
}

// Names of checks that others need.
const (
	checkNATS      = "nats"
	checkJetStream = "jetstream"
	checkBuckets   = "buckets"
)

// checks are in the order in which a worker would meet what they are about.
func (u *checkup) checks() []check {
	store := checkBuckets
	if u.flags.inMemory() {
		store = ""
	}
	return []check{
		{checkNATS, "", u.checkNATS},
		{checkJetStream, checkNATS, u.checkJetStream},
		{"rights", checkJetStream, u.checkRights},
		{"streams", checkJetStream, u.checkStreams},
		{checkBuckets, checkJetStream, u.checkBuckets},
		{"model", "", u.checkModel},
		{"limiter", store, u.checkLimiter},
		{"breaker", store, u.checkBreaker},
		{"permanent", "", u.checkPermanent},
	}
}

func (u *checkup) checkNATS(ctx context.Context) (string, error) {
	logger := u.logger
	if !logger.Enabled(ctx, slog.LevelWarn) {
		logger = slog.New(slog.DiscardHandler) // what is refused is what these checks are about, and they tell it
	}
	conn, err := u.flags.Connect(ctx, "weirkeeper check", logger)
	switch {
	case isA[*natsconn.TLSError](err):
		return "", advise(err, "give the right files with --tls-ca, --tls-cert and --tls-key, or another --nats-url")
	case isA[*natsconn.RefusedError](err):
		return "", advise(err, "give credentials that this server accepts, with --nats-creds, --nats-nkey, --nats-user, --nats-token, --tls-cert or in --nats-url")
	case cli.ExitCode(err) == cli.ExitUsage:
		return "", advise(err, "correct that flag, or the variable or line of the configuration file that sets it")
	case err != nil:
		return "", advise(err, "start a NATS server with JetStream there (nats-server -js), or name another with --nats-url")
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return "", err
	}
	u.conn, u.js = conn, js
	rtt, err := conn.RTT()
	if err != nil {
		return "", advise(err, "the server does not answer a ping: look at its log")
	}
	return fmt.Sprintf("%s, nats-server %s, answers in %s", natsconn.ServerURL(conn), conn.ConnectedServerVersion(), rtt.Round(10*time.Microsecond)), nil
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// checkJetStream asks the question that a worker asks first.
func (u *checkup) checkJetStream(ctx context.Context) (string, error) {
	if version := u.conn.ConnectedServerVersion(); !recent(version) {
		return "", advise(fmt.Errorf("nats-server %s cannot keep a circuit that is shared: it knows no atomic batches", version), "use nats-server 2.12 or later")
	}
	if _, err := wire.BucketExists(ctx, u.js, u.names.CircuitBucket()); err != nil {
		if errors.Is(err, nats.ErrNoResponders) {
			return "", advise(err, "start the server with JetStream (nats-server -js), and enable it for this user's account, or name another with --nats-url")
		}
		if lost, _ := wire.LostSubscriptions(ctx, u.conn, u.names); len(lost) > 0 && wire.OfInbox(u.conn, lost[0]) {
			return "", advise(fmt.Errorf("no answer reaches this user: it may not %s", lost[0]), rightAdvice(lost[0]))
		}
		return "", advise(err, "grant the right that is named, see docs/security.md, and look whether JetStream is enabled for the account")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	account, err := u.js.AccountInfo(ctx)
	if err != nil || account.Limits.MaxStore <= 0 {
		return "enabled", nil // what is used is for information; a worker can do without
	}
	used, most := account.Store, uint64(account.Limits.MaxStore)
	detail := fmt.Sprintf("enabled, %d of %d MiB on disk used", used>>20, most>>20)
	if used >= most {
		return "", advise(errors.New("JetStream is full: "+detail), "raise the account's limit, or purge what is no longer needed")
	}
	return detail, nil
}

// recent reports a version of at least 2.12; one that cannot be read is given
// the benefit of the doubt.
func recent(version string) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return true
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 != nil || err2 != nil || major > 2 || major == 2 && minor >= 12
}

func (u *checkup) checkRights(ctx context.Context) (string, error) {
	missing, err := wire.MissingRights(ctx, u.js, u.names, u.probe)
	if err != nil {
		return "", err
	}
	if len(missing) > 0 {
		return "", advise(errors.New("may not "+listed(missing)), "grant it to this user, see docs/security.md; what is missing can be created by who may, with worker setup")
	}
	return "may do all that a worker does, and create what is not there yet", nil
}

// listed joins rights, with what they are said once: "publish to A, B, nor subscribe to C".
func listed(rights []string) string {
	var b strings.Builder
	last := ""
	for i, right := range rights {
		verb, subject, _ := strings.Cut(right, " to ")
		switch {
		case i > 0 && verb == last:
			b.WriteString(", " + subject)
		case i > 0:
			b.WriteString(", nor " + right)
		default:
			b.WriteString(right)
		}
		last = verb
	}
	return b.String()
}

func (u *checkup) checkStreams(ctx context.Context) (string, error) {
	missing, err := wire.Inspect(ctx, u.js, u.names)
	if err == nil && !slices.Contains(missing, "stream "+u.names.ChunkStream()) {
		err = wire.CheckLanes(ctx, u.js, u.names)
	}
	if err != nil {
		return "", advise(err, "put that right by hand: Weirkeeper never changes a stream that exists")
	}
	if replicas := u.names.Replicas(); len(missing) > 0 && replicas > 1 && u.conn.ConnectedClusterName() == "" && u.js.Options().Domain == "" {
		return "", advise(fmt.Errorf("%s not there yet, and cannot be made with %d replicas: this server is in no cluster", strings.Join(missing, ", "), replicas),
			"leave --replicas out, or name a server of a cluster with --nats-url")
	}
	cautions, err := wire.Cautions(ctx, u.js, u.names)
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{shape(missing)}, cautions...), "; careful: "), nil
}

// checkBuckets opens those that exist, as a worker would.
func (u *checkup) checkBuckets(ctx context.Context) (string, error) {
	if u.flags.inMemory() {
		return "none needed: limits, circuit and attempts are kept in each process (--cache memory)", nil
	}
	var missing []string
	for _, bucket := range sharedBuckets(u.names) {
		exists, err := wire.BucketExists(ctx, u.js, bucket)
		if err != nil {
			return "", advise(err, "grant the right that is named")
		}
		if !exists {
			missing = append(missing, "bucket "+bucket)
			continue
		}
		cache, err := natskv.Open(ctx, u.js, bucket)
		if err != nil {
			return "", advise(err, "change or remove that stream, or use another --namespace")
		}
		if bucket == u.names.CircuitBucket() {
			err = u.checkWritten(ctx, cache)
		}
		_ = cache.Close()
		if err != nil {
			return "", err
		}
	}
	return shape(missing), nil
}

// shape says that what exists will do.
func shape(missing []string) string {
	if len(missing) == 0 {
		return "as a worker needs them"
	}
	return strings.Join(missing, ", ") + " not there yet: the first worker makes what is missing"
}
