package modelserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configure a server. The zero value is a server on a free port.
type Options struct {
	Addr   string   // loopback address to listen on. Defaults to 127.0.0.1:0
	Models []string // what GET /v1/models lists. Defaults to "test-model"
	Keep   int      // how many of the newest requests keep their body. Defaults to 1000
}

// maxRequestBytes is far above any chunk.
const maxRequestBytes = 32 << 20

// Server is a running model server.
type Server struct {
	listener net.Listener
	http     *http.Server
	models   []string
	keep     int
	closing  chan struct{}
	serving  sync.WaitGroup // the accept loop and every handler

	mu      sync.Mutex
	closed  bool
	journal *journal
	script  script
	seq     int
	release chan struct{} // closed to let hanging requests go
	changed chan struct{} // closed and replaced whenever a counter moves
}

// New starts a server. Close it.
func New(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if host, _, err := net.SplitHostPort(o.Addr); err != nil || (host != "localhost" && !net.ParseIP(host).IsLoopback()) {
		return nil, fmt.Errorf("address %q is not on the loopback interface", o.Addr)
	}
	if len(o.Models) == 0 {
		o.Models = []string{"test-model"}
	}
	if o.Keep == 0 {
		o.Keep = 1000
	}
	listener, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		listener: listener,
		models:   o.Models,
		keep:     o.Keep,
		closing:  make(chan struct{}),
		journal:  newJournal(o.Keep),
		release:  make(chan struct{}),
		changed:  make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("POST /control", s.command)
	mux.HandleFunc("GET /control", s.report)
	mux.HandleFunc("GET /control/records", s.listRecords)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ConnState: s.connection}
	s.serving.Go(func() {
		_ = s.http.Serve(listener) // always ErrServerClosed, after Close
	})
	return s, nil
}

// URL is the server's root, http://127.0.0.1:port.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// BaseURL is what a client calls its base URL: URL with /v1.
func (s *Server) BaseURL() string { return s.URL() + "/v1" }

// Addr is host:port, so that another server can take this one's place.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close drops all connections, hanging requests included, and waits for the
// handlers. Closing twice is safe.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	s.serving.Wait()
}

// enter counts a handler for Close to wait for, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.serving.Add(1)
	}
	return !s.closed
}

// Await blocks until the counters satisfy done, or the context ends.
func (s *Server) Await(ctx context.Context, done func(Stats) bool) error {
	for {
		s.mu.Lock()
		stats, changed := s.snapshot(), s.changed
		s.mu.Unlock()
		if done(stats) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the model server, which has seen %d requests: %w", stats.Requests, ctx.Err())
		}
	}
}

// update changes state under the lock and wakes those who wait.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.serving.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		http.Error(w, "request too large", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		return // the client left while sending
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	req := Request{Key: key, Body: body}
	parseErr := req.Parse()

	var record *Record
	var behaviour Behaviour
	var release <-chan struct{}
	s.update(func() {
		s.seq++
		req.Seq, req.At = s.seq, time.Now()
		record = s.journal.arrived(req)
		if parseErr != nil {
			s.journal.stats.ParseFailures++
			behaviour = Fails(http.StatusBadRequest, StyleOpenAI, "", "We could not parse the JSON body of your request.")
		} else {
			behaviour = s.script.next(req)
		}
		if behaviour.overflows(req) {
			behaviour = contextOverflow(behaviour.Context, req)
		}
		if behaviour.Name == "" {
			behaviour.Name = nameOK
		}
		s.journal.chosen(record, behaviour.Name)
		release = s.release
	})
	status := 0
	defer func() { // runs when a cut body aborts the handler, too
		s.update(func() { s.journal.finished(record, time.Now(), status) })
	}()
	status = s.respond(w, r, req, behaviour, release)
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	var refused bool
	s.update(func() {
		s.journal.stats.ModelLists++
		refused = s.script.key != "" && r.Header.Get("Authorization") != "Bearer "+s.script.key
	})
	if refused {
		contentType, body := mustNamed("bad_key").payload(http.StatusUnauthorized, Request{})
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, body)
		return
	}
	rows := make([]any, 0, len(s.models))
	for _, name := range s.models {
		rows = append(rows, map[string]any{"id": name, "object": "model", "owned_by": "modelserver"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": rows})
}

// connection counts accepted connections, so that tests can see reuse.
func (s *Server) connection(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.update(func() { s.journal.stats.Connections++ })
	}
}
