package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// fewRights are named by a worker that cannot start. worker check names all.
const fewRights = 3

// startError says in one line why a worker cannot start: that there is no JetStream, that
// nobody has made its streams yet, or which rights are missing. Of other errors it leaves
// the words. Missing rights are no usage error: when they are granted, or worker setup was
// run, the same worker starts, and whoever starts it again and again need not be told.
func startError(ctx context.Context, js jetstream.JetStream, names wire.Names, err error) error {
	err = unfit(err)
	if err == nil || ctx.Err() != nil || cli.ExitCode(err) == cli.ExitUsage {
		return err
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return withoutJetStream("bucket "+names.CircuitBucket(), err)
	}
	// The server refuses what is asked for now, which is told once, in the end.
	js.Conn().SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	lost, problem := wire.LostSubscriptions(ctx, js.Conn(), names)
	if problem == nil && len(lost) > 0 && wire.OfInbox(js.Conn(), lost[0]) {
		return &forbiddenError{lost[0]} // without answers every right would seem to be missing
	}
	missing, problem := wire.MissingRights(ctx, js, names, wire.NewProbe())
	if problem != nil || len(missing) == 0 {
		return err
	}
	return lacking(names, missing)
}

// lacking says what to do about rights that are missing.
func lacking(names wire.Names, missing []string) error {
	switch creating := func(right string) bool { return strings.Contains(right, ".STREAM.CREATE.") }; {
	case !slices.ContainsFunc(missing, func(right string) bool { return !creating(right) }):
		return fmt.Errorf("namespace %s lacks %s, and this user may create none: worker setup does, run by one who may (docs/security.md)",
			names.Namespace(), cli.Count(len(missing), "stream"))
	case len(missing) <= fewRights:
		return fmt.Errorf("this user may not %s: grant it, see docs/security.md", listed(missing))
	default:
		return fmt.Errorf("this user may not %s, and lacks %s more: worker check names all, and docs/security.md what to grant",
			listed(missing[:fewRights]), cli.Count(len(missing)-fewRights, "right"))
	}
}

// unfit marks a stream, bucket or consumer that a worker cannot live with: trying again
// does not help. Other errors stay as they are.
func unfit(err error) error {
	if _, mismatch := errors.AsType[*natskv.MismatchError](err); mismatch {
		return cli.Usage(err)
	}
	return natsflags.StartError(err)
}

// withoutJetStream is in plain words why nobody answers for an object.
func withoutJetStream(object string, err error) error {
	if _, plain := errors.AsType[*wire.AccessError](err); plain {
		return err
	}
	return &wire.AccessError{Object: object, Err: err}
}

// plainRead does that for what of the fleet could not be read.
func plainRead(err error) error {
	if failed, ok := errors.AsType[*overview.ReadError](err); ok && errors.Is(err, nats.ErrNoResponders) {
		return withoutJetStream(failed.What, failed.Err)
	}
	return err
}

// rightAdvice is what to do about a right that is missing.
func rightAdvice(right string) string {
	if natsconn.OfDefaultInbox(right) {
		return "set --nats-inbox-prefix (NATS_INBOX_PREFIX) to what this user's account allows, see docs/security.md"
	}
	return "grant that, see docs/security.md, or use a user that may"
}
