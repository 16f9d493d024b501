package natskv

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Keys returns the keys that have a value now, sorted: for people and their
// tools, not for a hot path. Names so long that a hash stands for them are
// left out. A value that expired within the last second may still be there.
func (c *Cache) Keys(ctx context.Context) ([]string, error) {
	if c.closed.Load() {
		return nil, kvcache.ErrClosed
	}
	bucket, err := c.js.KeyValue(ctx, c.bucket)
	if err != nil {
		return nil, fmt.Errorf("natskv: bucket %s: %w", c.bucket, refusal(ctx, err))
	}
	names, err := bucket.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("natskv: keys of bucket %s: %w", c.bucket, refusal(ctx, err))
	}
	var keys []string
	for _, name := range names {
		if key, ok := KeyOf(name); ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Erase removes every trace of root (value, hits, ledger) and the values of the
// keys that begin with root and a dot, and the markers that Delete would leave.
// It is for keys that nobody will use again: who still holds a version of one
// may take it for that of a key never written. The root is of letters, digits, -
// and _.
func (c *Cache) Erase(ctx context.Context, root string) error {
	if !bucketName.MatchString(root) {
		return fmt.Errorf("natskv: cannot erase %q, has to be of letters, digits, - and _", root)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	var problems []error
	for _, trace := range []struct{ stream, subject string }{
		{"KV_" + c.bucket, c.stored + root},
		{"KV_" + c.bucket, c.stored + root + ".>"},
		{"HITS_" + c.bucket, "$HITS." + c.bucket + "." + root},
		{"LEDGER_" + c.bucket, "$LEDGER." + c.bucket + "." + root},
	} {
		problems = append(problems, c.purge(ctx, trace.stream, trace.subject))
	}
	return errors.Join(problems...)
}

// purge removes the messages of a subject from a stream, if there is one.
func (c *Cache) purge(ctx context.Context, name, subject string) error {
	stream, err := c.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("natskv: erase %s from stream %s: %w", subject, name, refusal(ctx, err))
	}
	return nil
}
