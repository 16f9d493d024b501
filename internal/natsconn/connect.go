package natsconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/internal/secretfile"
)

const (
	// connectTimeout bounds Connect as a whole, whatever the number of servers
	// and addresses.
	connectTimeout = 4500 * time.Millisecond
	// dialTimeout bounds one address.
	dialTimeout = 2 * time.Second

	// Waits between attempts to reconnect grow from the first to the last.
	reconnectFirst = 100 * time.Millisecond
	reconnectLast  = 5 * time.Second
)

// Options says where and how to connect.
type Options struct {
	URL string // one or several, separated by commas; "" is nats://127.0.0.1:4222

	// At most one way of saying who this is: one of these, or a user or token in
	// URL. Files are read again for every connection, but for that of an NKey.
	Creds        string // file with a user JWT and seed
	NKey         string // file with an NKey seed
	User         string // needs Password or PasswordFile
	Password     string
	PasswordFile string // file with nothing but the password
	Token        string
	TokenFile    string // file with nothing but the token

	TLSCA   string // file with the certificates that the server's is checked against; asks for TLS
	TLSCert string // file with the client's certificate; needs TLSKey; asks for TLS
	TLSKey  string // file with the client's key; needs TLSCert

	// InboxPrefix begins the subjects that answers come to, so that users of one
	// account need not be allowed to hear those of others. "" is _INBOX.
	InboxPrefix string
	Name        string // how the server lists the connection

	// Logger hears about lost and regained connections, about rights that are
	// missing, and about secrets that every user of the machine may read. nil is
	// silent.
	Logger *slog.Logger
}

// String tells nothing that could be a secret.
func (o Options) String() string { return "natsconn.Options(" + o.Name + ")" }

// GoString keeps passwords out of %#v.
func (o Options) GoString() string { return o.String() }

// LogValue keeps passwords out of logs.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

// Connect opens a connection, or fails within 5 seconds with an [*OptionError], or
// with a [*ConnectError] that names the URL; that the server does not accept who
// this is, is a [*RefusedError] in it, and a failure of TLS a [*TLSError]. Once open, the connection is kept up for ever: it
// reconnects by itself, with growing and jittered waits, until it is closed.
func Connect(ctx context.Context, o Options) (*nats.Conn, error) {
	who, err := o.identity()
	if err != nil {
		return nil, err
	}
	opts, err := o.natsOptions(who)
	if err != nil {
		return nil, err
	}
	return connect(ctx, o.URL, who, opts)
}

func connect(ctx context.Context, servers string, who identity, opts []nats.Option) (*nats.Conn, error) {
	if servers == "" {
		servers = nats.DefaultURL
	}
	shown, err := redact(servers)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()

	type outcome struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		nc, err := nats.Connect(servers, opts...)
		done <- outcome{nc, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, &ConnectError{URL: shown, Err: explain(who, got.err)}
		}
		return got.nc, nil
	case <-ctx.Done():
		// Looking up a name cannot be interrupted; whatever comes of it is closed.
		go func() {
			if late := <-done; late.nc != nil {
				late.nc.Close()
			}
		}()
		err := ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v: %w", connectTimeout, err)
		}
		return nil, &ConnectError{URL: shown, Err: err}
	}
}

func (o Options) natsOptions(who identity) ([]nats.Option, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	told := newReporter(log, who)
	opts := []nats.Option{
		nats.Name(o.Name),
		nats.Timeout(dialTimeout),
		nats.MaxReconnects(-1),
		// An authorisation error may pass: a rotated key, a server that is
		// still loading its accounts.
		nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(func(attempts int) time.Duration { return reconnectDelay(attempts, rand.Float64()) }),
		// A server that vanished without closing is noticed after two unanswered pings.
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(told.disconnected),
		nats.ReconnectErrHandler(told.stillAway),
		nats.ReconnectHandler(told.back),
		nats.ErrorHandler(told.heard),
	}
	for _, secret := range []struct{ option, path string }{
		{"creds", o.Creds}, {"nkey", o.NKey}, {"nats-password-file", o.PasswordFile}, {"nats-token-file", o.TokenFile}, {"tls-key", o.TLSKey},
	} {
		secretfile.Warn(log, secret.option, secret.path)
	}
	if o.InboxPrefix != "" {
		if !plainSubject(o.InboxPrefix) {
			return nil, &OptionError{"nats-inbox-prefix", fmt.Sprintf("%q: want letters, digits, '-' and '_', in parts separated by dots", o.InboxPrefix)}
		}
		opts = append(opts, nats.CustomInboxPrefix(o.InboxPrefix))
	}
	secured, err := o.tlsOptions()
	if err != nil {
		return nil, err
	}
	return append(append(opts, who.options...), secured...), nil
}

// reconnectDelay grows by half with every round over the servers, from
// reconnectFirst to reconnectLast; u, in [0,1), spreads a fleet that lost the
// same server over the second half of the delay.
func reconnectDelay(attempts int, u float64) time.Duration {
	delay := float64(reconnectFirst)
	for i := 0; i < attempts && delay < float64(reconnectLast); i++ {
		delay *= 1.5
	}
	delay = min(delay, float64(reconnectLast))
	return time.Duration(delay * (0.5 + u/2))
}
