package consumer

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

// memory of attempts outlives any wait between two deliveries.
const attemptsTTL = 7 * 24 * time.Hour

// attempts counts failed attempts per message, apart from deliveries, and
// remembers a decision to set a message aside until that is done. Only messages
// that were delivered before can have either, so the first delivery of a message
// costs the store nothing.
type attempts struct {
	kv kvcache.KeyValue

	mu     sync.Mutex
	marked map[string]time.Time // tokens, see mark
}

func newAttempts(kv kvcache.KeyValue) *attempts {
	return &attempts{kv: kv, marked: map[string]time.Time{}}
}

// mark notes that something was written down about a chunk of the lane's tenant:
// should the lane get lost, with its counts of deliveries, its older messages
// are looked up. One note per hour will do. That it is missing only matters if
// the lane gets lost as well, so that failing to write it is no error.
func (a *attempts) mark(ctx context.Context, d delivery) {
	if d.lane == nil {
		return
	}
	now := time.Now()
	a.mu.Lock()
	fresh := now.Sub(a.marked[d.lane.token]) < time.Hour
	if !fresh {
		a.marked[d.lane.token] = now
	}
	if len(a.marked) > 10_000 {
		clear(a.marked)
	}
	a.mu.Unlock()
	if !fresh {
		_ = a.kv.Set(ctx, "lane/"+d.lane.token, "", attemptsTTL)
	}
}

// everFailed reads the note.
func (a *attempts) everFailed(ctx context.Context, token string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	_, ok, err := a.kv.Get(ctx, "lane/"+token)
	if err != nil {
		return false, &storeError{"read attempts", err}
	}
	return ok, nil
}

func (a *attempts) key(d delivery) string     { return d.id() }
func (a *attempts) deadKey(d delivery) string { return d.id() + "/dead" }

// failed returns how many attempts have failed so far.
func (a *attempts) failed(ctx context.Context, d delivery) (int, error) {
	if !d.again() {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	text, ok, err := a.kv.Get(ctx, a.key(d))
	if err != nil {
		return 0, &storeError{"read attempts", err}
	}
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, nil // somebody wrote something else there; Increment will say so
	}
	return n, nil
}

// fail counts one more.
func (a *attempts) fail(ctx context.Context, d delivery) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	n, err := a.kv.Increment(ctx, a.key(d), attemptsTTL)
	if err != nil {
		return 0, &storeError{"count attempt", err}
	}
	a.mark(ctx, d)
	return int(n), nil
}

// condemn writes down that the message will be set aside, and why, before the
// first step is taken: whoever takes over from a worker that dies in between
// completes it, instead of asking the model again and maybe storing a result as
// well.
func (a *attempts) condemn(ctx context.Context, d delivery, letter wire.DeadLetter) error {
	text, err := json.Marshal(letter)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	if err := a.kv.Set(ctx, a.deadKey(d), string(text), attemptsTTL); err != nil {
		return &storeError{"note dead letter", err}
	}
	a.mark(ctx, d)
	return nil
}

// condemned returns what [attempts.condemn] wrote down.
func (a *attempts) condemned(ctx context.Context, d delivery) (letter wire.DeadLetter, ok bool, err error) {
	if !d.again() {
		return wire.DeadLetter{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	text, ok, err := a.kv.Get(ctx, a.deadKey(d))
	if err != nil {
		return wire.DeadLetter{}, false, &storeError{"read dead letter note", err}
	}
	if !ok || json.Unmarshal([]byte(text), &letter) != nil || !wire.IsDeadKind(letter.Kind) {
		return wire.DeadLetter{}, false, nil
	}
	return letter, true, nil
}

// forget clears both once the message is gone. What cannot be cleared now
// expires: no other message has the same keys.
func (a *attempts) forget(ctx context.Context, d delivery, counted, noted bool) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	if counted {
		_ = a.kv.Delete(ctx, a.key(d))
	}
	if noted {
		_ = a.kv.Delete(ctx, a.deadKey(d))
	}
}
