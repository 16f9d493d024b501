package health

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Config is where the answers come from. Every function must be quick and safe
// for concurrent use.
type Config struct {
	// Live returns why the process should be restarted; nothing means alive.
	Live func() []string
	// Ready returns why the process does not take work; nothing means ready.
	Ready func() []string
	// Notes returns what somebody should know who asks whether the process is
	// ready, and sees that it does nothing. nil has nothing to tell.
	Notes func(context.Context) []string
	// Snapshot returns what is going on, to be written as JSON.
	Snapshot func(context.Context) any
	// Metrics answers /metrics.
	Metrics http.Handler
	// Profiles serves Go's profiles under /debug/pprof/, to this machine only.
	Profiles bool
	// Page answers everything else. nil has nothing else.
	Page http.Handler
}

// snapshotTimeout bounds what Snapshot may ask of a shared store.
const snapshotTimeout = 2 * time.Second

// notesTimeout bounds what Notes may: whoever probes a worker waits for a second.
const notesTimeout = 500 * time.Millisecond

// verdict is the answer of /healthz and /readyz.
type verdict struct {
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons"`
	Notes   []string `json:"notes,omitempty"`
}

// Handler serves the paths of the configuration. /healthz and /readyz answer 200, or 503 with
// the reasons.
func Handler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", judge(c.Live, nil))
	mux.HandleFunc("GET /readyz", judge(c.Ready, c.Notes))
	mux.HandleFunc("GET /snapshot", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), snapshotTimeout)
		defer cancel()
		write(w, http.StatusOK, c.Snapshot(ctx))
	})
	mux.Handle("GET /metrics", c.Metrics)
	if c.Profiles {
		mux.Handle("GET /debug/pprof/", local(profiles()))
	}
	if c.Page != nil {
		mux.Handle("/", c.Page)
	}
	return mux
}

func judge(reasons func() []string, notes func(context.Context) []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer := verdict{Reasons: reasons()}
		answer.OK = len(answer.Reasons) == 0
		status := http.StatusOK
		if !answer.OK {
			status = http.StatusServiceUnavailable
		} else {
			answer.Reasons = []string{}
		}
		if notes != nil {
			ctx, cancel := context.WithTimeout(r.Context(), notesTimeout)
			defer cancel()
			answer.Notes = notes(ctx)
		}
		write(w, status, answer)
	}
}

func write(w http.ResponseWriter, status int, answer any) {
	body, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		http.Error(w, "the answer cannot be written as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
