package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// writtenFor is how long a key is kept whose removal fails.
const writtenFor = time.Minute

// checkWritten writes a key that nobody uses to the circuits, and removes it again:
// shapes and rights are as they should be also on a server that can store nothing.
// Without the right to write, which another check names, it finds nothing out.
func (u *checkup) checkWritten(ctx context.Context, circuits *natskv.Cache) error {
	if !wire.MayPublish(ctx, u.conn, "$KV."+u.names.CircuitBucket()+"."+u.probe) {
		return nil
	}
	if err := circuits.Set(ctx, u.probe, "written", writtenFor); err != nil {
		return cannotStore(err)
	}
	return circuits.Erase(ctx, u.probe)
}

// cannotStore says what an error of a store comes of, and what to do about it. Other
// errors stay as they are.
func cannotStore(err error) error {
	if !errors.Is(err, kvcache.ErrUnavailable) {
		return err
	}
	return advise(fmt.Errorf("the NATS server cannot store: %w", err),
		"look at its log and at nats server report jetstream for a disk or an account that is full, or a quorum that is missing; once there is room, restart a server whose log told of a write error")
}
