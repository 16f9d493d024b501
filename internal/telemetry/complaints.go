package telemetry

import (
	"log/slog"
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
	mu     sync.Mutex
	last   time.Time
}

func newComplaints(logger *slog.Logger) *complaints {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &complaints{logger: logger}
}

// Handle implements OpenTelemetry's ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && time.Since(c.last) < complainEvery {
		return
	}
	c.last = time.Now()
	c.logger.Warn("telemetry: cannot export, or a setting is not understood; the work goes on", "error", wire.CleanError(err.Error()))
}
