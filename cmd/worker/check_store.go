package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// proof is a store as two workers see it, to prove on it what they share.
type proof struct {
	place    string // for people
	one, two kvcache.Cache
	// clean removes every trace of the probe, also after ctx has ended, and says
	// what it had to leave.
	clean func() error
}

// cleanTimeout bounds the tidying up after a check.
const cleanTimeout = 5 * time.Second

// proofIn opens the bucket twice, as two workers would. If it is not complete
// yet, that is left to the first worker, and one of another name is made for as
// long as the check takes.
func (u *checkup) proofIn(ctx context.Context, bucket string, beside ...string) (proof, error) {
	if u.flags.inMemory() {
		cache := kvcache.NewMemory()
		return proof{"memory", cache, cache, cache.Close}, nil
	}
	exists, err := wire.BucketExists(ctx, u.js, bucket)
	for _, stream := range beside {
		if err == nil && exists {
			exists, err = u.streamExists(ctx, stream)
		}
	}
	if err != nil {
		return proof{}, err
	}
	place := "bucket " + bucket
	if !exists {
		bucket += "_" + strings.ReplaceAll(u.probe, "-", "_")
		place = "a bucket made for this check"
		subject := "$KV."
		if len(beside) > 0 {
			subject = "$LEDGER."
		}
		if !wire.MayCreate(ctx, u.js, "KV_"+bucket) || !wire.MayPublish(ctx, u.conn, subject+bucket+"."+u.probe) {
			return proof{}, errors.New("cannot be proved yet: the bucket is not there, and this user may not make and use one for the check")
		}
	}
	var opened [2]*natskv.Cache
	for i := range opened {
		if opened[i], err = natskv.Open(ctx, u.js, bucket, natskv.WithReplicas(u.names.Replicas())); err != nil {
			break
		}
	}
	clean := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
		defer cancel()
		var problem error
		if exists {
			problem = errors.Join(opened[0].Erase(ctx, u.probe), opened[0].Erase(ctx, u.other()), u.eraseStale(ctx, bucket, opened[0], staleAfter))
		} else {
			problem = u.removeBucket(ctx, bucket)
		}
		for _, cache := range opened {
			problem = errors.Join(problem, cache.Close())
		}
		return problem
	}
	if err != nil {
		if !exists {
			_ = u.removeBucket(ctx, bucket)
			err = fmt.Errorf("%s: %w", place, err)
		}
		return proof{}, err
	}
	return proof{place, opened[0], opened[1], clean}, nil
}

// staleAfter is how old the traces of a check are that has ended for certain.
const staleAfter = time.Hour

// eraseStale removes the circuits of checks that lost their connection before they
// could tidy up. What they leave elsewhere is forgotten by itself.
func (u *checkup) eraseStale(ctx context.Context, bucket string, cache *natskv.Cache, age time.Duration) error {
	if bucket != u.names.CircuitBucket() {
		return nil
	}
	reading, err := follow.NewBucket(u.js, bucket).Look(ctx)
	if err != nil {
		return err
	}
	stale := map[string]bool{}
	for _, got := range reading.Entries {
		name, _, _ := strings.Cut(got.Key, ".") // a probe's is plain
		if wire.IsProbe(name) && reading.Now.Sub(got.Created) >= age {
			stale[name] = true
		}
	}
	var problems []error
	for name := range stale {
		problems = append(problems, cache.Erase(ctx, name))
	}
	return errors.Join(problems...)
}

func (u *checkup) streamExists(ctx context.Context, name string) (bool, error) {
	_, err := u.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	return err == nil, err
}

// removeBucket removes a bucket that this check has made, with what stands
// beside it.
func (u *checkup) removeBucket(ctx context.Context, bucket string) error {
	var problems []error
	for _, stream := range []string{"KV_" + bucket, "HITS_" + bucket, "LEDGER_" + bucket} {
		if err := u.js.DeleteStream(ctx, stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			problems = append(problems, fmt.Errorf("remove stream %s: %w", stream, err))
		}
	}
	return errors.Join(problems...)
}

// prove runs a demonstration on the store in a bucket and tidies up after it.
func (u *checkup) prove(ctx context.Context, demonstrate func(context.Context, proof) (string, error), bucket string, beside ...string) (string, error) {
	const next = "look at the lines above and at the log of the NATS server; do not send work to a model that you have to protect before this is right"
	p, err := u.proofIn(ctx, bucket, beside...)
	if err != nil {
		return "", advise(err, "have the bucket made, by a worker that may (start one once) or by worker setup with a user who may, and check again")
	}
	detail, err := demonstrate(ctx, p)
	detail += " (" + p.place + ")"
	if problem := p.clean(); problem != nil {
		detail += fmt.Sprintf("; %s could not be removed again: %v", u.probe, problem)
		if err != nil {
			err = fmt.Errorf("%w%s", err, detail)
		}
	}
	if errors.Is(err, kvcache.ErrUnavailable) {
		return detail, cannotStore(err)
	}
	return detail, advise(err, next)
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
