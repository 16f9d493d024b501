package telemetry

import (
	"context"
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

// quiet is what OpenTelemetry logs to. By itself it writes to standard error, and quotes
// variables that hold keys: of what it has to say of a mistake this keeps the words, the
// name of a variable and that of a file.
type quiet struct{ log *slog.Logger }

// Enabled implements slog.Handler.
func (quiet) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle implements slog.Handler.
func (q quiet) Handle(ctx context.Context, record slog.Record) error {
	args := []any{"problem", record.Message}
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "file" || a.Key == "environment variable" {
			args = append(args, a)
		}
		return true
	})
	q.log.WarnContext(ctx, "telemetry: a setting is not understood, and left out", args...)
	return nil
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs([]slog.Attr) slog.Handler { return q }

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(string) slog.Handler { return q }
