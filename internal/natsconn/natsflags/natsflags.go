// Package natsflags is the part of a command line that says which NATS server to
// use, and what its mistakes mean for the exit code.
package natsflags

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Flags say which NATS server to use, how, and under which names.
type Flags struct {
	NATSURL   string `name:"nats-url" known:"NATS_URL" group:"nats" default:"nats://127.0.0.1:4222" placeholder:"nats://127.0.0.1:4222" help:"NATS server, or several separated by commas."`
	NATSCreds string `name:"nats-creds" known:"NATS_CREDS" group:"nats" placeholder:"FILE" help:"Credentials file with a user's JWT and seed."`
	NATSNKey  string `name:"nats-nkey" known:"NATS_NKEY" group:"nats" placeholder:"FILE" help:"File with an NKey seed."`

	NATSUser         string     `name:"nats-user" known:"NATS_USER" group:"nats" placeholder:"NAME" help:"User; its password comes from one of the next two."`
	NATSPassword     cli.Secret `name:"nats-password" known:"NATS_PASSWORD" group:"nats" placeholder:"PASSWORD" help:"Password of --nats-user. Prefer the environment, --config or a file: a command line can be seen by others on the machine."`
	NATSPasswordFile string     `name:"nats-password-file" group:"nats" placeholder:"FILE" help:"File with that password and nothing else. Read again for every connection."`
	NATSToken        cli.Secret `name:"nats-token" known:"NATS_TOKEN" group:"nats" placeholder:"TOKEN" help:"Token. Prefer the environment, --config or a file."`
	NATSTokenFile    string     `name:"nats-token-file" group:"nats" placeholder:"FILE" help:"File with the token and nothing else. Read again for every connection."`
	NATSInboxPrefix  string     `name:"nats-inbox-prefix" known:"NATS_INBOX_PREFIX" group:"nats" placeholder:"SUBJECT" help:"What the subjects begin with that answers come to. Default: _INBOX. One for each kind of user keeps them from hearing each other's answers."`

	TLSCA   string `name:"tls-ca" known:"NATS_CA" group:"nats" placeholder:"FILE" help:"Certificates that the server's is checked against."`
	TLSCert string `name:"tls-cert" known:"NATS_CERT" group:"nats" placeholder:"FILE" help:"Client certificate; needs --tls-key."`
	TLSKey  string `name:"tls-key" known:"NATS_KEY" group:"nats" placeholder:"FILE" help:"Key of the client certificate."`

	Replicas  int    `group:"nats" default:"1" enum:"1,3,5" help:"On how many servers of a NATS cluster streams and buckets are kept that have to be made: 1, 3 or 5. Existing ones stay as they are."`
	Namespace string `group:"nats" default:"weir" help:"What the names of all subjects, streams and buckets begin with. Fleets with different ones do not meet."`
}

// Names spells the subjects and streams of the namespace.
func (f Flags) Names() (wire.Names, error) {
	names, err := wire.NewNames(f.Namespace)
	if err != nil {
		return wire.Names{}, cli.Usage(fmt.Errorf("--%w", err))
	}
	return names.WithReplicas(f.Replicas), nil
}

// Options are the flags as the connection wants them; name is how the server
// lists it.
func (f Flags) Options(name string, logger *slog.Logger) natsconn.Options {
	return natsconn.Options{
		URL: f.NATSURL, Creds: f.NATSCreds, NKey: f.NATSNKey,
		User: f.NATSUser, Password: f.NATSPassword.Reveal(), PasswordFile: f.NATSPasswordFile,
		Token: f.NATSToken.Reveal(), TokenFile: f.NATSTokenFile,
		TLSCA: f.TLSCA, TLSCert: f.TLSCert, TLSKey: f.TLSKey,
		InboxPrefix: f.NATSInboxPrefix, Name: name, Logger: logger,
	}
}

// Connect opens the connection that the flags describe, within 5 seconds.
func (f Flags) Connect(ctx context.Context, name string, logger *slog.Logger) (*nats.Conn, error) {
	conn, err := natsconn.Connect(ctx, f.Options(name, logger))
	return conn, ConnectionError(err)
}

// ConnectionError marks those failures to connect that only other settings can
// cure.
func ConnectionError(err error) error {
	if option, ok := errors.AsType[*natsconn.OptionError](err); ok {
		return cli.Usage(fmt.Errorf("%s: %s", flagOf(option.Option), option.Problem))
	}
	_, refused := errors.AsType[*natsconn.RefusedError](err)
	_, insecure := errors.AsType[*natsconn.TLSError](err)
	if refused || insecure {
		return cli.Usage(err)
	}
	return err
}

// flagOf names the flag that sets an option of the connection.
func flagOf(option string) string {
	switch option {
	case "creds", "nkey":
		return "--nats-" + option
	default:
		return "--" + option
	}
}

// Ensure creates the streams that are missing.
func Ensure(ctx context.Context, js jetstream.JetStream, names wire.Names) error {
	return StartError(wire.Ensure(ctx, js, names))
}

// StartError marks a stream, bucket or consumer that cannot be lived with: it is
// a mistake in the settings, on one side or the other.
func StartError(err error) error {
	if _, mismatch := errors.AsType[*wire.MismatchError](err); mismatch {
		return cli.Usage(err)
	}
	return err
}
