package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

// operatorFlags are in every command that looks at a fleet, or steers it.
type operatorFlags struct {
	JSON bool `name:"json" help:"Print JSON."`

	natsflags.Flags `embed:""`
	cli.LogFlags    `embed:""`
	cli.ConfigFile  `embed:""`
}

// session is an open connection to the fleet's NATS. It creates nothing: an
// operator who looks must not have to be allowed to.
type session struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	names wire.Names
}

func (f operatorFlags) open(ctx context.Context, streams cli.Streams) (*session, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	connect := func(ctx context.Context, name string) (*nats.Conn, error) {
		return f.Connect(ctx, name, f.Logger(streams.Err))
	}
	return openSession(ctx, connect, "weirkeeper operator", names)
}

func openSession(ctx context.Context, connect dial, name string, names wire.Names) (*session, error) {
	conn, err := connect(ctx, name)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &session{conn, js, names}, nil
}

// openBook opens a session with what the fleet has stored of something. The book has
// the session from then on.
func openBook[B any](ctx context.Context, f operatorFlags, streams cli.Streams, write bool, open func(context.Context, *session, bool) (B, error)) (book B, err error) {
	s, err := f.open(ctx, streams)
	if err != nil {
		return book, err
	}
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		book, err = open(ctx, s, write)
		return err
	})
	if err != nil {
		s.close()
	}
	return book, err
}

func (s *session) close() { s.conn.Close() }

// works reports whether a worker that is alive is such a one; false also if that
// cannot be found out.
func (s *session) works(ctx context.Context, such func(wire.WorkerState) bool) bool {
	workers, _ := s.workers(ctx)
	return slices.ContainsFunc(workers, such)
}

// workers are those that have lately said that they are alive.
func (s *session) workers(ctx context.Context) (workers []wire.WorkerState, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		reading, _, err := s.read(ctx, s.names.WorkersBucket())
		states, _ := alive.States(reading.Entries)
		workers = slices.DeleteFunc(states, func(w wire.WorkerState) bool { return w.State == "stopped" })
		return err
	})
	return workers, err
}

// noteIdle says that nobody is there who would follow an order.
func (s *session) noteIdle(ctx context.Context, out io.Writer) {
	if workers, err := s.workers(ctx); err == nil && len(workers) == 0 {
		fmt.Fprintf(out, "no worker runs in namespace %s at the moment: this is stored, and holds for those that start\n", s.names.Namespace())
	}
}

// noteNowhere says of a namespace in which no worker has ever run that there is nothing
// to be seen: its name may be misspelt.
func (s *session) noteNowhere(ctx context.Context, out io.Writer) {
	stream, exists := s.names.ChunkStream(), true
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		exists, err = wire.StreamExists(ctx, s.js, stream)
		return err
	})
	if err == nil && !exists {
		fmt.Fprintf(out, "no worker has run in namespace %s yet: there is no stream %s\n", s.names.Namespace(), stream)
	}
}

// read returns all entries of a bucket that operators write.
func (s *session) read(ctx context.Context, bucket string) (reading follow.Reading, exists bool, err error) {
	exists, err = wire.BucketExists(ctx, s.js, bucket)
	if err != nil || !exists {
		return reading, exists, err
	}
	if reading, err = follow.NewBucket(s.js, bucket).Look(ctx); err != nil {
		err = fmt.Errorf("bucket %s: %w", bucket, err)
	}
	return reading, true, err
}
