package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/history"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/secretfile"
	"github.com/weirkeeper/weirkeeper/internal/statuspage"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/publish"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// pageFlags say who may steer the fleet with the page on --listen.
type pageFlags struct {
	Token     cli.Secret `group:"log" placeholder:"SECRET" help:"Lets whoever has it steer the fleet with the status page on --listen: pause, reset the circuit, set limits, replay dead letters. At least 16 characters. Prefer --token-file or the environment: a command line can be seen by others on the machine. Default: the page only shows."`
	TokenFile string     `group:"log" placeholder:"FILE" help:"File with the token and nothing else. Read again for every order."`
}

// check takes where the worker listens, "" for nowhere.
func (f pageFlags) check(listen string) error {
	switch {
	case f.Token.IsSet() && f.TokenFile != "":
		return errors.New("--token and --token-file: give one of them")
	case (f.Token.IsSet() || f.TokenFile != "") && listen == "":
		return errors.New("--token and --token-file go with --listen: there is no page to steer with")
	}
	return nil
}

// token returns what tells the token, nil if there is none. A file is read for every
// order, so that who replaces it need not start the worker again; one that does not do
// as a token any more lets nobody in.
func (f pageFlags) token(logger *slog.Logger) (func() string, error) {
	token, flag := f.Token.Reveal, "--token"
	if f.TokenFile != "" {
		flag = "--token-file"
		file, err := secretfile.Open(f.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		secretfile.Warn(logger, "token-file", f.TokenFile)
		token = func() string {
			now, _ := file.Current() // the last one while it is replaced
			return now
		}
	}
	switch now := token(); {
	case now == "":
		return nil, nil
	case len(now) < statuspage.MinToken:
		return nil, fmt.Errorf("%s must have at least %d characters, such as of: openssl rand -hex 16", flag, statuspage.MinToken)
	case strings.ContainsFunc(now, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("%s must be of letters, digits and signs of ASCII, without spaces: it is sent in a header", flag)
	}
	return token, nil
}

// statusPage is the page on --listen, with what it remembers.
type statusPage struct {
	recorder *history.Recorder
	handler  http.Handler
}

// newStatusPage makes the page of a worker that listens on address; token may be nil. Orders
// use connections of their own.
func newStatusPage(js jetstream.JetStream, names wire.Names, worker, address string, token func() string, connect dial, logger *slog.Logger) (*statusPage, error) {
	recorder, err := history.New(history.Config{JetStream: js, Names: names, Logger: logger})
	if err != nil {
		return nil, err
	}
	reader, err := overview.NewReader(overview.Config{JetStream: js, Names: names})
	if err != nil {
		return nil, err
	}
	config := statuspage.Config{
		Fleet: connectedReader{js.Conn(), reader}, History: recorder.History, Letters: newestLetters(js, names),
		Loopback: loopback(address),
		About:    statuspage.About{Namespace: names.Namespace(), Version: cli.Version(), Worker: worker},
		Logger:   logger,
		Explain:  func(err error) error { return deniedError(js.Conn(), err) },
	}
	if token != nil {
		config.Token = token
		config.Operator = operator(func(ctx context.Context) (*session, error) {
			if !js.Conn().IsConnected() {
				return nil, errAway
			}
			return openSession(ctx, connect, "weirkeeper status page", names)
		})
	}
	handler, err := statuspage.Handler(config)
	if err != nil {
		return nil, err
	}
	return &statusPage{recorder, handler}, nil
}

// loopback reports whether only this machine reaches an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// heard remembers a transition of this worker's circuit.
func (p *statusPage) heard(c resilience.Change) {
	p.recorder.Note(c.Circuit, history.Change{At: c.At, State: string(c.To), Reason: c.Reason})
}

// begin remembers how the circuit of this worker is at the start.
func (p *statusPage) begin(ctx context.Context, breaker *resilience.Breaker) {
	if s, err := breaker.Snapshot(ctx); err == nil {
		p.recorder.Note(s.Circuit, history.Change{At: time.Now(), State: string(s.State), Reason: s.Reason})
	}
}

// remember samples the fleet until the function that it returns is called.
func (p *statusPage) remember(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var sampling sync.WaitGroup
	sampling.Go(func() { p.recorder.Run(ctx) })
	return func() {
		cancel()
		sampling.Wait()
	}
}

// errAway is said at once, instead of after a request that nobody answers.
var errAway = errors.New("this worker is not connected to NATS")

// deniedError names the right for lack of which a request was not answered.
func deniedError(conn *nats.Conn, err error) error {
	if forbidden, ok := errors.AsType[*forbiddenError](err); ok {
		return fmt.Errorf("NATS does not allow this worker to %s, see docs/security.md", forbidden.Right)
	}
	right := natsconn.DeniedRight(conn.LastError())
	if right == "" || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, kvcache.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("NATS does not allow this worker to %s, see docs/security.md: %w", right, err)
}

// connectedReader does not ask a server that is gone.
type connectedReader struct {
	conn *nats.Conn
	next *overview.Reader
}

// Read implements [statuspage.FleetReader].
func (r connectedReader) Read(ctx context.Context) (overview.Fleet, error) {
	if !r.conn.IsConnected() {
		return overview.Fleet{}, errAway
	}
	return r.next.Read(ctx)
}

func newestLetters(js jetstream.JetStream, names wire.Names) func(context.Context, int) ([]statuspage.Letter, error) {
	return func(ctx context.Context, most int) ([]statuspage.Letter, error) {
		if !js.Conn().IsConnected() {
			return nil, errAway
		}
		letters, err := publish.NewestLetters(ctx, js, names, most)
		shown := make([]statuspage.Letter, 0, len(letters))
		for _, l := range letters {
			s := statuspage.Letter{Letter: l.Sequence, Tenant: l.Tenant, Kind: l.Kind, Error: l.Error, FailedAt: l.FailedAt, Document: l.DocumentID}
			if l.ChunkID != "" {
				s.Chunk = &l.Index
			}
			shown = append(shown, s)
		}
		return shown, err
	}
}
