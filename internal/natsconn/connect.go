package natsconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
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
	URL     string // one or several, separated by commas; "" is nats://127.0.0.1:4222
	Creds   string // file with a user JWT and seed
	NKey    string // file with an NKey seed
	TLSCA   string // file with the certificates that the server's is checked against
	TLSCert string // file with the client's certificate; needs TLSKey
	TLSKey  string // file with the client's key; needs TLSCert
	Name    string // how the server lists the connection

	// Logger hears about lost and regained connections. nil is silent.
	Logger *slog.Logger
}

// Connect opens a connection, or fails within 5 seconds with a [*ConnectError]
// that names the URL. Once open, the connection is kept up for ever: it
// reconnects by itself, with growing and jittered waits, until it is closed.
func Connect(ctx context.Context, o Options) (*nats.Conn, error) {
	opts, err := o.natsOptions()
	if err != nil {
		return nil, err
	}
	return connect(ctx, o.URL, opts)
}

func connect(ctx context.Context, servers string, opts []nats.Option) (*nats.Conn, error) {
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
			return nil, &ConnectError{URL: shown, Err: explain(got.err)}
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

func explain(err error) error {
	if errors.Is(err, nats.ErrNoServers) {
		return fmt.Errorf("connection refused or no server there (%w)", err)
	}
	return err
}

func (o Options) natsOptions() ([]nats.Option, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
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
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("NATS connection lost, reconnecting", "error", err.Error())
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("NATS connection is back", "url", nc.ConnectedUrlRedacted())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Warn("NATS reports an error", "error", err.Error(), "subject", subject)
		}),
	}
	if o.Creds != "" {
		if err := readable("creds", o.Creds); err != nil {
			return nil, err
		}
		opts = append(opts, nats.UserCredentials(o.Creds))
	}
	if o.NKey != "" {
		if o.Creds != "" {
			return nil, &OptionError{"nkey", "give either creds or an nkey, not both"}
		}
		if err := readable("nkey", o.NKey); err != nil {
			return nil, err
		}
		opt, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, &OptionError{"nkey", o.NKey + " holds no NKey seed"}
		}
		opts = append(opts, opt)
	}
	if o.TLSCA != "" {
		if err := readable("tls-ca", o.TLSCA); err != nil {
			return nil, err
		}
		opts = append(opts, nats.RootCAs(o.TLSCA))
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, &OptionError{"tls-cert", "a certificate and a key belong together; only one was given"}
	}
	if o.TLSCert != "" {
		for option, path := range map[string]string{"tls-cert": o.TLSCert, "tls-key": o.TLSKey} {
			if err := readable(option, path); err != nil {
				return nil, err
			}
		}
		opts = append(opts, nats.ClientCert(o.TLSCert, o.TLSKey))
	}
	return opts, nil
}

func readable(option, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &OptionError{option, err.Error()}
	}
	return f.Close()
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

// redact leaves out the user, password or token of each URL. The error names no
// part of a URL that cannot be read.
func redact(servers string) (string, error) {
	var shown []string
	for server := range strings.SplitSeq(servers, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.Host == "" {
			return "", &OptionError{"nats-url", "not a URL like nats://host:4222"}
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return "", &OptionError{"nats-url", fmt.Sprintf("scheme %q: want nats, tls, ws or wss", u.Scheme)}
		}
		u.User = nil
		shown = append(shown, u.String())
	}
	return strings.Join(shown, ","), nil
}
