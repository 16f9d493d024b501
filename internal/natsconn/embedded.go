package natsconn

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// EmbeddedOptions says how to start a server inside the process.
type EmbeddedOptions struct {
	// StoreDir is where JetStream keeps its files. "" is a new temporary folder
	// that [Embedded.Close] removes.
	StoreDir string
	// Port to listen on, on 127.0.0.1 only. 0 picks a free one.
	Port int
	// InProcess listens on no port at all: only [Embedded.Connect] reaches the server.
	InProcess bool
	// MaxPayload is the largest message in bytes, headers included. 0 is the
	// server's default of 1 MiB.
	MaxPayload int32
	// Logger hears the server's warnings and errors. nil is silent.
	Logger *slog.Logger
}

// Embedded is a NATS server with JetStream inside this process. Its methods are
// safe for concurrent use.
type Embedded struct {
	srv       *server.Server
	inProcess bool
	tempDir   string // to remove, "" if the folder is not ours
	closing   sync.Once
	closeErr  error
}

// startTimeout is generous: a large store is read before the server is ready.
const startTimeout = 30 * time.Second

// StartEmbedded starts a server and waits until it takes connections.
func StartEmbedded(o EmbeddedOptions) (*Embedded, error) {
	if o.Port < 0 || o.Port > 65535 {
		return nil, &OptionError{"port", fmt.Sprintf("%d is not a port", o.Port)}
	}
	e := &Embedded{inProcess: o.InProcess}
	dir := o.StoreDir
	if dir == "" {
		temp, err := os.MkdirTemp("", "weirkeeper-nats-")
		if err != nil {
			return nil, fmt.Errorf("embedded NATS server: %w", err)
		}
		dir, e.tempDir = temp, temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded NATS server: store-dir: %w", err)
	}
	port := o.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	opts := &server.Options{
		ServerName: "weirkeeper-embedded",
		Host:       "127.0.0.1",
		Port:       port,
		DontListen: o.InProcess,
		JetStream:  true,
		StoreDir:   dir,
		MaxPayload: o.MaxPayload,
		NoSigs:     true, // signals belong to the program around it
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		_ = e.removeTemp()
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	log := &serverLog{log: o.Logger}
	srv.SetLoggerV2(log, false, false, false)
	e.srv = srv
	srv.Start()
	if !ready(srv, log) {
		_ = e.Close()
		return nil, fmt.Errorf("embedded NATS server did not start on 127.0.0.1:%d with files in %s: %s", o.Port, dir, log.lastError())
	}
	return e, nil
}

// ready waits until the server takes connections, or says why it never will.
func ready(srv *server.Server, log *serverLog) bool {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if srv.ReadyForConnections(50 * time.Millisecond) {
			return srv.JetStreamEnabled()
		}
		if log.isFatal() {
			return false
		}
	}
	return false
}

// URL is where clients connect; "" if the server listens on no port.
func (e *Embedded) URL() string {
	if e.inProcess {
		return ""
	}
	return e.srv.ClientURL()
}

// Connect opens a connection that never leaves the process. The URL and the
// credentials of o are ignored.
func (e *Embedded) Connect(o Options) (*nats.Conn, error) {
	opts, err := Options{Name: o.Name, Logger: o.Logger}.natsOptions(identity{})
	if err != nil {
		return nil, err
	}
	return connect(context.Background(), "nats://127.0.0.1", identity{}, append(opts, nats.InProcessServer(e.srv)))
}

// Close stops the server, waits until its files are written, and removes them
// if they were temporary. Closing twice is safe.
func (e *Embedded) Close() error {
	e.closing.Do(func() {
		e.srv.Shutdown()
		e.srv.WaitForShutdown()
		e.closeErr = e.removeTemp()
	})
	return e.closeErr
}

func (e *Embedded) removeTemp() error {
	if e.tempDir == "" {
		return nil
	}
	return os.RemoveAll(e.tempDir)
}

// serverLog passes on what the server warns about, and remembers the last error
// for the one that could not start.
type serverLog struct {
	log   *slog.Logger
	mu    sync.Mutex
	last  string
	fatal bool
}

func (l *serverLog) isFatal() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func (l *serverLog) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return "no reason given"
	}
	return l.last
}

func (l *serverLog) write(level slog.Level, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	if level >= slog.LevelError {
		l.mu.Lock()
		l.last = text
		l.mu.Unlock()
	}
	if l.log != nil {
		l.log.Log(context.Background(), level, "NATS server: "+text)
	}
}

func (l *serverLog) Noticef(format string, args ...any) { l.write(slog.LevelDebug, format, args) }
func (l *serverLog) Warnf(format string, args ...any)   { l.write(slog.LevelWarn, format, args) }
func (l *serverLog) Errorf(format string, args ...any)  { l.write(slog.LevelError, format, args) }
func (l *serverLog) Debugf(string, ...any)              {}
func (l *serverLog) Tracef(string, ...any)              {}

func (l *serverLog) Fatalf(format string, args ...any) {
	l.write(slog.LevelError, format, args)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatal = true
}
