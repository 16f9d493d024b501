package statuspage

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// guessesEvery is how often wrong tokens are logged at most: whoever guesses shall be
// seen, and not fill the log.
const guessesEvery = 10 * time.Second

// guesses logs that there were wrong tokens, and from where. What was guessed is in no
// line: it may be the token of another worker.
type guesses struct {
	logger *slog.Logger

	mu     sync.Mutex
	quiet  bool   // there was a line within guessesEvery
	count  int    // since that line
	client string // of the last one
}

// heard takes notice of a request with a wrong token.
func (g *guesses) heard(r *http.Request) {
	client, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		client = r.RemoteAddr
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	g.client = client
	if !g.quiet {
		g.tell()
	}
}

// tell logs what was heard, and what is heard from now on later. The caller holds mu.
func (g *guesses) tell() {
	g.logger.Warn("the status page was asked with a wrong token", "client", g.client, "requests", g.count)
	g.count, g.quiet = 0, true
	time.AfterFunc(guessesEvery, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.quiet = false
		if g.count > 0 {
			g.tell()
		}
	})
}
