package main

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// connectionFlags are in every command that talks to the fleet.
type connectionFlags struct {
	Tenant          string `required:"" placeholder:"NAME" help:"Whose documents and results these are."`
	natsflags.Flags `embed:""`
	cli.LogFlags    `embed:""`
	cli.ConfigFile  `embed:""`
}

// session is an open connection with the streams in place.
type session struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	names wire.Names
}

func (f connectionFlags) open(ctx context.Context, streams cli.Streams) (*session, error) {
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	conn, err := f.Connect(ctx, "weirkeeper publisher", f.Logger(streams.Err))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err == nil {
		err = natsflags.Ensure(ctx, js, names)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &session{conn: conn, js: js, names: names}, nil
}

func (s *session) close() { s.conn.Close() }

// openReading opens a session, which the caller closes, for what the fleet has done
// for the tenant.
func (f connectionFlags) openReading(ctx context.Context, streams cli.Streams) (*session, *publish.Reader, error) {
	session, err := f.open(ctx, streams)
	if err != nil {
		return nil, nil, err
	}
	reader, err := publish.NewReader(session.js, session.names, f.Tenant)
	if err != nil {
		session.close()
		return nil, nil, deliver.Refused(err)
	}
	return session, reader, nil
}
