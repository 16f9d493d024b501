package statuspage

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	maxOrder = 16 << 10 // bytes of an order
	// orderTimeout ends an order before the server gives up its answer.
	orderTimeout = 20 * time.Second
)

// Operator carries out orders, as the commands of the same names do. What it returns
// says what has come of it, in one line. An order that makes no sense is a
// [*RefusedError]. It must be safe for concurrent use.
type Operator interface {
	Pause(context.Context, PauseOrder) (string, error)         // POST /api/pause
	Resume(context.Context, Target) (string, error)            // POST /api/resume
	OpenCircuit(context.Context, CircuitOrder) (string, error) // POST /api/circuit/open
	ResetCircuit(context.Context, CircuitOrder) (string, error)
	SetLimits(context.Context, LimitsOrder) (string, error) // POST /api/limits/set
	UnsetLimits(context.Context, Target) (string, error)
	Replay(context.Context, ReplayOrder) (string, error) // POST /api/dead/replay
}

// Target is a tenant or the whole fleet: exactly one of them, so that a name that
// was lost on the way does not mean everybody.
type Target struct {
	Tenant string `json:"tenant"`
	Fleet  bool   `json:"fleet"`
}

// PauseOrder pauses a tenant or the fleet.
type PauseOrder struct {
	Target
	Minutes int    `json:"minutes"`
	Reason  string `json:"reason"`
}

// CircuitOrder names a circuit.
type CircuitOrder struct {
	Circuit string `json:"circuit"`
	Reason  string `json:"reason"` // of opening it
}

// LimitsOrder gives a tenant limits of its own. What is nil is as the workers' flags
// have it.
type LimitsOrder struct {
	Tenant   string `json:"tenant"`
	RPM      *int64 `json:"rpm"`
	WindowMS *int64 `json:"window_ms"`
	TPM      *int64 `json:"tpm"`
}

// ReplayOrder sends dead letters of a kind again, of all tenants or of one.
type ReplayOrder struct {
	Kind   string `json:"kind"`
	Tenant string `json:"tenant"`
	Letter uint64 `json:"letter"` // only this one, whatever its kind
}

func (s *site) orders(mux *http.ServeMux) {
	do := s.cfg.Operator
	if s.cfg.Token == nil { // never called, because nobody is let in
		do = nil
	}
	give(s, mux, "/api/pause", func(ctx context.Context, o PauseOrder) (string, error) { return do.Pause(ctx, o) })
	give(s, mux, "/api/resume", func(ctx context.Context, o Target) (string, error) { return do.Resume(ctx, o) })
	give(s, mux, "/api/circuit/open", func(ctx context.Context, o CircuitOrder) (string, error) { return do.OpenCircuit(ctx, o) })
	give(s, mux, "/api/circuit/reset", func(ctx context.Context, o CircuitOrder) (string, error) { return do.ResetCircuit(ctx, o) })
	give(s, mux, "/api/limits/set", func(ctx context.Context, o LimitsOrder) (string, error) { return do.SetLimits(ctx, o) })
	give(s, mux, "/api/limits/unset", func(ctx context.Context, o Target) (string, error) { return do.UnsetLimits(ctx, o) })
	give(s, mux, "/api/dead/replay", func(ctx context.Context, o ReplayOrder) (string, error) { return do.Replay(ctx, o) })
	// Tells whether a token is right, and does nothing.
	give(s, mux, "/api/token", func(context.Context, struct{}) (string, error) { return "the token is right", nil })
}

// give serves one kind of order.
func give[T any](s *site, mux *http.ServeMux, path string, do func(context.Context, T) (string, error)) {
	only(mux, http.MethodPost, path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.holder(w, r, "this page only shows: to steer the fleet with it start the worker with --token-file, or use the worker's commands") {
			return
		}
		order, err := readOrder[T](w, r)
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		// Half an order is worse than one whose giver does not hear how it ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTimeout)
		defer cancel()
		done, err := do(ctx, order)
		err = s.explain(err)
		if path != "/api/token" {
			s.cfg.Logger.Info("order from the status page", "path", path, "order", inWords(order), "from", r.RemoteAddr, "done", done, "failed", failure(err))
		}
		refused, isRefused := errors.AsType[*RefusedError](err)
		switch {
		case err == nil:
			answer(w, http.StatusOK, map[string]string{"done": done})
		case isRefused:
			refuse(w, http.StatusUnprocessableEntity, wire.CleanError(refused.Reason))
		default:
			refuse(w, http.StatusBadGateway, failure(err))
		}
	}))
}

// inWords is an order in JSON, in one line and without secrets.
func inWords(order any) string {
	text, err := json.Marshal(order)
	if err != nil {
		return "" // no order has what JSON has not
	}
	return wire.CleanError(string(text))
}

func failure(err error) string {
	if err == nil {
		return ""
	}
	return wire.CleanError(err.Error())
}

// readOrder is strict: a member that is misspelt must not be taken for none.
func readOrder[T any](w http.ResponseWriter, r *http.Request) (order T, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return order, errors.New("want Content-Type: application/json")
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&order); {
	case errors.Is(err, io.EOF):
		return order, errors.New("want one JSON object, not an empty body")
	case err != nil:
		return order, errors.New("want one JSON object: " + wire.JSONProblem(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return order, errors.New("want one JSON object and nothing after it")
	}
	return order, nil
}
