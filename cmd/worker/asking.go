package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// forbiddenError is the right that the server says this user does not have.
type forbiddenError struct {
	Right string // "publish to SUBJECT"
}

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("this user may not %s: %s", e.Right, rightAdvice(e.Right))
}

// ask does what needs the server's consent. A server does not answer what it forbids,
// but tells the connection: that ends do at once, with a [forbiddenError], instead of
// when its patience does. Not for two at a time.
func (s *session) ask(ctx context.Context, do func(context.Context) error) error {
	asking, end := context.WithCancelCause(ctx)
	defer end(nil)
	before := s.conn.ErrorHandler()
	defer s.conn.SetErrorHandler(before)
	s.conn.SetErrorHandler(func(conn *nats.Conn, sub *nats.Subscription, err error) {
		if right := natsconn.DeniedRight(err); right != "" {
			end(&forbiddenError{right})
		} else if before != nil {
			before(conn, sub, err)
		}
	})
	err := do(asking)
	if forbidden, ok := errors.AsType[*forbiddenError](context.Cause(asking)); ok && err != nil {
		return forbidden
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("the NATS server does not answer: look at its log for a disk that is or was full, or a quorum that is missing (docs/runbooks.md): %w", err)
	}
	return err
}
