package telemetry

import (
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// complainEvery is how often at most it is logged that exporting fails: an endpoint
// may be gone for days, and is no reason not to work.
const complainEvery = time.Minute

// complaints hears what goes wrong with exporting.
type complaints struct {
	logger *slog.Logger
	keys   []string // that a collector may quote

	mu   sync.Mutex
	last time.Time
}

func newComplaints(logger *slog.Logger) *complaints {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &complaints{logger: logger, keys: headerKeys()}
}

// headerKeys are the values of the headers that exporters send.
func headerKeys() (keys []string) {
	for _, of := range []string{"", "TRACES_", "METRICS_"} {
		for header := range strings.SplitSeq(os.Getenv("OTEL_EXPORTER_OTLP_"+of+"HEADERS"), ",") {
			_, value, _ := strings.Cut(header, "=")
			plain, err := url.PathUnescape(value)
			if err != nil {
				plain = value
			}
			for _, key := range append(strings.Fields(plain), strings.TrimSpace(plain), strings.TrimSpace(value)) {
				if len(key) >= shortestKey {
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}

// shortestKey is in bytes: to hide shorter ones would only garble the text.
const shortestKey = 4

// Handle implements OpenTelemetry's ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && time.Since(c.last) < complainEvery {
		return
	}
	c.last = time.Now()
	text := err.Error()
	for _, key := range c.keys {
		text = strings.ReplaceAll(text, key, "[redacted]")
	}
	c.logger.Warn("telemetry: cannot export, or a setting is not understood; the work goes on", "error", wire.CleanError(text))
}
