package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/wire"
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
	conn  *nats.Conn // nil if the connection is somebody else's
	js    jetstream.JetStream
	names wire.Names
}

func (f operatorFlags) open(ctx context.Context, streams cli.Streams) (*session, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	conn, err := f.Connect(ctx, "weirkeeper operator", f.Logger(streams.Err))
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

func (s *session) close() {
	if s.conn != nil {
		s.conn.Close()
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
