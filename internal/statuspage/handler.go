package statuspage

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/history"
	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// FleetReader reads how the fleet is.
type FleetReader interface {
	Read(context.Context) (overview.Fleet, error)
}

// Config is where the page's answers come from.
type Config struct {
	Fleet   FleetReader
	History func() history.History
	// Letters reads the newest dead letters, at most as many as asked for.
	Letters func(ctx context.Context, most int) ([]Letter, error)

	// Token tells the token that lets its holder give orders, at the moment; nil makes
	// the page read-only. While it has fewer than [MinToken] bytes it lets nobody in.
	Token func() string
	// Operator carries them out. It is required with a token.
	Operator Operator
	// Loopback says that nobody but this machine reaches the page.
	Loopback bool

	About About
	Clock func() time.Time // nil means time.Now
	// Explain says more of an error of what is read and ordered, such as which right is
	// missing. nil leaves it as it is.
	Explain func(error) error
	Logger  *slog.Logger // nil is silent; orders are logged, and wrong tokens, at most once in 10 s
}

// About is what the page says of itself.
type About struct {
	Namespace string `json:"namespace"`
	Version   string `json:"version"`
	Worker    string `json:"worker"` // the one that serves it
}

// MinToken is the shortest token, in bytes.
const MinToken = 16

// site is the page.
type site struct {
	cfg     Config
	fleet   *shared
	letters *shared
	guesses *guesses
}

// Handler returns the page. It answers only the paths of the package comment. The
// error is a [*ConfigError].
func Handler(c Config) (http.Handler, error) {
	switch {
	case c.Fleet == nil:
		return nil, &ConfigError{"Fleet", "is required"}
	case c.History == nil:
		return nil, &ConfigError{"History", "is required"}
	case c.Letters == nil:
		return nil, &ConfigError{"Letters", "is required"}
	case c.Token != nil && len(c.Token()) < MinToken:
		return nil, &ConfigError{"Token", "is too short to be a secret, it must have at least 16 bytes"}
	case c.Token != nil && c.Operator == nil:
		return nil, &ConfigError{"Operator", "is required with a token"}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &site{cfg: c, guesses: &guesses{logger: c.Logger}}
	s.fleet = newShared(c.Clock, func(ctx context.Context) (any, error) {
		fleet, err := c.Fleet.Read(ctx)
		return fleet, s.explain(err)
	})
	s.letters = newShared(c.Clock, func(ctx context.Context) (any, error) {
		letters, err := c.Letters(ctx, maxLetters)
		return lettersAnswer{At: c.Clock().UTC(), Letters: letters}, s.explain(err)
	})
	mux := http.NewServeMux()
	s.files(mux)
	only(mux, http.MethodGet, "/api/fleet", s.looking(s.fleet.serve))
	only(mux, http.MethodGet, "/api/letters", s.looking(s.letters.serve))
	only(mux, http.MethodGet, "/api/history", s.looking(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, c.History()) }))
	only(mux, http.MethodGet, "/api/about", s.looking(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, struct {
			About
			Orders bool `json:"orders"` // may be given, with the token
		}{c.About, c.Token != nil})
	}))
	s.orders(mux)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "there is nothing here: see docs/status-page.md")
	})
	return s.guarded(mux), nil
}

// only serves a path of the API to one method (and HEAD for GET), and answers the others
// in JSON, like all that the API answers.
func only(mux *http.ServeMux, method, path string, next http.Handler) {
	mux.Handle(method+" "+path, next)
	allowed := method
	if method == http.MethodGet {
		allowed = "GET, HEAD"
	}
	mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed, path+" takes only "+allowed)
	})
}

// explain says more of an error where somebody knows.
func (s *site) explain(err error) error {
	if err == nil || s.cfg.Explain == nil {
		return err
	}
	return s.cfg.Explain(err)
}

// answer writes JSON that nobody keeps.
func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	answerText(w, status, text)
}

func answerText(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// refuse answers with a reason.
func refuse(w http.ResponseWriter, status int, reason string) {
	answer(w, status, map[string]string{"error": reason})
}
