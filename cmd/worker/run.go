package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
	"github.com/weirkeeper/weirkeeper/internal/health"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	defaultListen   = "127.0.0.1:9464"
	defaultStoreDir = "weirkeeper-data"
)

type runCommand struct {
	engineFlags `embed:""`
	fleetFlags  `embed:""`

	deliver.SplitFlags `embed:""`

	natsflags.Flags `embed:""`
	storeFlags      `embed:""`
	Embedded        bool    `group:"nats" help:"Start a NATS server in this process, on the port of --nats-url, for this machine only."`
	StoreDir        string  `group:"nats" placeholder:"DIR" help:"Where the embedded server keeps its files. Default: ./weirkeeper-data."`
	Listen          *string `group:"log" empty:"nowhere" placeholder:"HOST:PORT" help:"Where the status page, /healthz, /readyz, /metrics and /snapshot are served; empty for nowhere. Default: 127.0.0.1:9464, or nowhere if that is taken."`

	telemetryFlags `embed:""`
	pageFlags      `embed:""`
	cli.LogFlags   `embed:""`
	cli.ConfigFile `embed:""`
}

// Help is shown below the summary of the command.
func (runCommand) Help() string {
	return `Takes chunks from the queue, asks the model about each within the limits, and stores the results. Start as many workers as you like: they share the
queue, the limits and the circuit.

SIGTERM or Ctrl-C: takes nothing new, finishes what it has begun within --drain-timeout, gives the rest back and exits with 0. A second one stops at once;
nothing is lost by that either.`
}

func (c *runCommand) Run(ctx context.Context, streams cli.Streams) error {
	err := c.run(ctx, streams)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // told to stop before it had begun
	}
	return err
}

func (c *runCommand) run(ctx context.Context, streams cli.Streams) error {
	if err := c.check(); err != nil {
		return cli.Usage(err)
	}
	names, err := c.Names()
	if err != nil {
		return err
	}
	splitter, err := c.Splitter()
	if err != nil {
		return err
	}
	logger := telemetry.Logs(c.Logger(streams.Err))
	token, err := c.pageFlags.token(logger)
	if err != nil {
		return cli.Usage(err)
	}
	instance := cli.Instance("worker")
	measured, watch, err := c.telemetryFlags.start(ctx, names, c.Circuit, instance, c.Listen == nil || *c.Listen != "", logger)
	if err != nil {
		return err
	}
	defer measured.Stop()
	provider, closeProvider, err := newProvider(c.engineFlags, logger)
	if err != nil {
		return err
	}
	defer closeProvider()
	connect, stopServer, err := c.server(logger)
	if err != nil {
		return err
	}
	defer stopServer()
	conn, err := connect(ctx, "weirkeeper worker")
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	shared, err := c.stores(ctx, js, names, watch)
	if err != nil {
		return startError(ctx, js, names, err)
	}
	defer shared.close()
	circuit := newTransitions(logger)
	if watch != nil {
		circuit.tell(watch.Changed)
	}
	engine, err := newEngine(js, names, shared, provider, c.engineFlags, c.consumerConfig(instance, splitter, logger), circuit.hear, watch)
	if err != nil {
		return err
	}
	defer engine.close()
	page, err := newStatusPage(js, names, instance, c.address(), token, connect, logger)
	if err != nil {
		return err
	}
	if !c.inMemory() { // else it is this process's, and says nothing of the fleet
		circuit.tell(page.heard)
	}
	defer circuit.follow(engine.breaker)()
	monitor := newMonitor(engine, js, names, c.workFlags)
	if watch != nil {
		if err := watch.Watch(measured, telemetry.Build(cli.ReadBuild()), monitor.reading); err != nil {
			return err
		}
	}
	stopListening, listening, err := c.listen(monitor.config(measured.Handler(), page.handler, c.Pprof), token != nil, logger)
	if err != nil {
		return err
	}
	defer stopListening()
	if listening {
		if !c.inMemory() {
			page.begin(ctx, engine.breaker)
		}
		defer page.remember(ctx)()
	}
	if c.openai() {
		warnSmallTokens(logger, c.limits().Tokens, fullChunk(c.SplitFlags), c.MaxTokens)
	}
	defer widenHeap()()
	logger.Info("starting", "model", provider.Model(), "rpm", limitsShown(c.limits().Requests), "window", c.Window, "circuit", c.Circuit, "cache", c.Cache)
	return startError(ctx, js, names, engine.worker.Run(ctx))
}

// stores are those of the fleet, or this process's own.
func (c *runCommand) stores(ctx context.Context, js jetstream.JetStream, names wire.Names, watch *work.Observer) (stores, error) {
	if c.inMemory() {
		return memoryStores(), nil
	}
	return natsStores(ctx, js, names, watch)
}

// consumerConfig is what the flags say of the consumer; newEngine adds the engine's part.
func (c *runCommand) consumerConfig(instance string, splitter *extraction.Splitter, logger *slog.Logger) consumer.Config {
	config := consumer.Config{
		Namespace: c.Namespace, Replicas: c.Replicas, WorkerName: instance, Version: cli.Version(),
		AckWait: c.AckWait, DrainTimeout: c.DrainTimeout, Splitter: splitter, Limits: c.limits(), Logger: logger,
	}
	if c.DrainTimeout == 0 {
		config.DrainTimeout = -1 // in the consumer's words; there, 0 is the default
	}
	if !c.inMemory() { // else the circuit is shared with nobody
		config.Circuit = c.Circuit
		config.CircuitSettings = consumer.CircuitSettings{FailureThreshold: c.FailureThreshold, RecoveryTimeout: c.RecoveryTimeout, HalfOpenMaxCalls: c.HalfOpenMaxCalls}
	}
	return config
}

func (c *runCommand) check() error {
	if c.StoreDir != "" && !c.Embedded {
		return errors.New("--store-dir goes with --embedded")
	}
	if c.Listen != nil && *c.Listen != "" {
		if _, err := health.CheckAddress(*c.Listen); err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
	}
	return errors.Join(c.engineFlags.check(), c.fleetFlags.check(), c.telemetryFlags.check(c.Listen), c.pageFlags.check(c.address()))
}

// address is where to listen, "" for nowhere.
func (c *runCommand) address() string {
	if c.Listen == nil {
		return defaultListen
	}
	if address, err := health.CheckAddress(*c.Listen); err == nil {
		return address
	}
	return *c.Listen
}

// dial opens a connection to NATS; name is how the server lists it.
type dial func(ctx context.Context, name string) (*nats.Conn, error)

// server says how to connect, to the server in this process if there is to be one. That
// runs until stop is called.
func (c *runCommand) server(logger *slog.Logger) (connect dial, stop func(), err error) {
	if !c.Embedded {
		return func(ctx context.Context, name string) (*nats.Conn, error) { return c.Connect(ctx, name, logger) }, func() {}, nil
	}
	port, err := embeddedPort(c.NATSURL)
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	dir := c.StoreDir
	if dir == "" {
		dir = defaultStoreDir
	}
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir, Port: port, Logger: logger})
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	logger.Info("started a NATS server in this process", "url", server.URL(), "store_dir", dir)
	return func(_ context.Context, name string) (*nats.Conn, error) {
		return server.Connect(c.Options(name, logger))
	}, func() { _ = server.Close() }, nil
}

// embeddedPort takes the port out of a URL of this machine: the embedded server
// has no authorisation and is for nobody else.
func embeddedPort(natsURL string) (int, error) {
	if !strings.Contains(natsURL, "://") {
		natsURL = "nats://" + natsURL
	}
	u, err := url.Parse(natsURL)
	if err != nil {
		return 0, errors.New("--embedded: --nats-url is not a URL like nats://127.0.0.1:4222")
	}
	if host := u.Hostname(); host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return 0, fmt.Errorf("--embedded listens on this machine only: --nats-url names %s", host)
	}
	if u.Port() == "" {
		return nats.DefaultPort, nil
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("--embedded: --nats-url has port %s", u.Port())
	}
	return port, nil
}

// listen starts the HTTP server. That the default address is taken, by another
// worker on this machine, is no reason not to work. token says that the page has one.
func (c *runCommand) listen(answers health.Config, token bool, logger *slog.Logger) (stop func(), listening bool, err error) {
	address := c.address()
	if address == "" {
		return func() {}, false, nil
	}
	server, err := health.Listen(address, health.Handler(answers))
	switch {
	case err == nil:
		logger.Info("listening", "address", server.Address())
		switch {
		case health.Loopback(server.Address()):
		case token:
			logger.Info("the status page asks whoever comes from elsewhere for the token, on a connection that is not encrypted; /healthz, /readyz, /metrics and /snapshot ask nobody", "address", server.Address())
		default:
			logger.Warn("whoever can reach this address can read /healthz, /readyz, /metrics and /snapshot without a password: let only those through who may. The status page is closed there: it needs --token-file", "address", server.Address())
		}
		return server.Close, true, nil
	case c.Listen == nil:
		logger.Warn("not listening: the default address is taken, choose one with --listen", "address", address)
		return func() {}, false, nil
	default:
		return nil, false, cli.Usage(fmt.Errorf("--listen: %w", err))
	}
}

// limitsShown is for the log.
func limitsShown(n int64) string {
	if n == resilience.Unlimited {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}
