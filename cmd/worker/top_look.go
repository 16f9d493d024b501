package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// lookTimeout is how long one look may take before it has failed.
const lookTimeout = 15 * time.Second

// errDisconnected is said as soon as the connection knows, instead of after a look that
// nobody answers.
var errDisconnected = errors.New("not connected to NATS")

// errNoAnswer is said of a server that is there and does not answer.
var errNoAnswer = fmt.Errorf("the NATS server has not answered for %s", lookTimeout)

// looker looks at the fleet again and again.
type looker struct {
	conn     *nats.Conn
	reader   *overview.Reader
	interval time.Duration
	changed  chan nats.Status // of the connection; closed when it is
}

func newLooker(conn *nats.Conn, reader *overview.Reader, interval time.Duration) *looker {
	return &looker{conn, reader, interval, conn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED)}
}

func (l *looker) close() {
	if l.changed != nil {
		l.conn.RemoveStatusListener(l.changed)
	}
}

// heard no longer listens to a connection that is closed for good.
func (l *looker) heard(open bool) {
	if !open {
		l.changed = nil
	}
}

func look(ctx context.Context, reader *overview.Reader) (overview.Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	fleet, err := reader.Read(ctx)
	return fleet, plainRead(err)
}

// look reads the fleet, and gives up at once when the connection is lost.
func (l *looker) look(ctx context.Context) (overview.Fleet, error) {
	if !l.conn.IsConnected() {
		return overview.Fleet{}, errDisconnected
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := make(chan lookResult, 1)
	go func() {
		fleet, err := look(ctx, l.reader)
		read <- lookResult{fleet, err}
	}()
	for {
		select {
		case r := <-read:
			switch {
			case r.err != nil && !l.conn.IsConnected():
				r.err = errDisconnected
			case errors.Is(r.err, context.DeadlineExceeded):
				r.err = errNoAnswer
			}
			return r.fleet, r.err
		case _, open := <-l.changed:
			l.heard(open)
			if !l.conn.IsConnected() {
				cancel()
				<-read
				return overview.Fleet{}, errDisconnected
			}
		}
	}
}

// wait is over when it is time for the next look: after the interval, or at once when the
// connection is lost or comes back. It is false when ctx is over.
func (l *looker) wait(ctx context.Context) bool {
	timer := time.NewTimer(l.interval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case _, open := <-l.changed:
		l.heard(open)
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// outdated says why there are no new figures, and of when those are that there are.
func outdated(err error, last *overview.Fleet) string {
	if last == nil {
		return err.Error()
	}
	return err.Error() + ", figures of " + last.At.UTC().Format(time.TimeOnly)
}

type lookResult struct {
	fleet overview.Fleet
	err   error
}

func (l *looker) keepLooking(ctx context.Context, to chan<- lookResult) {
	for {
		fleet, err := l.look(ctx)
		select {
		case to <- lookResult{fleet, err}:
		case <-ctx.Done():
			return
		}
		if !l.wait(ctx) {
			return
		}
	}
}
