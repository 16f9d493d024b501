package limits

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// InvalidEntryError says what is wrong with a value of the bucket.
type InvalidEntryError struct {
	Reason string
}

func (e *InvalidEntryError) Error() string { return "invalid limits: " + e.Reason }

// Parse reads one value of the bucket: {"rpm":N,"window_ms":N,"tpm":N}, calls per
// window, the window's length in milliseconds, tokens per window. What is absent
// is as in base. The error is a [*InvalidEntryError].
func Parse(value []byte, base resilience.Limits) (resilience.Limits, error) {
	var entry struct {
		RPM      *int64 `json:"rpm"`
		WindowMS *int64 `json:"window_ms"`
		TPM      *int64 `json:"tpm"`
	}
	if err := json.Unmarshal(value, &entry); err != nil {
		return base, &InvalidEntryError{`want {"rpm":N,"window_ms":N,"tpm":N}, all of them whole numbers: ` + wire.JSONProblem(err)}
	}
	limits := base
	for _, field := range []struct {
		name string
		from *int64
		most int64
		set  func(int64)
	}{
		{"rpm", entry.RPM, resilience.Unlimited, func(n int64) { limits.Requests = n }},
		{"window_ms", entry.WindowMS, kvcache.MaxWindow.Milliseconds(), func(n int64) { limits.Window = time.Duration(n) * time.Millisecond }},
		{"tpm", entry.TPM, resilience.Unlimited, func(n int64) { limits.Tokens = n }},
	} {
		switch {
		case field.from == nil:
		case *field.from < 1 || *field.from > field.most:
			return base, &InvalidEntryError{fmt.Sprintf("%s is %d, want 1 to %d", field.name, *field.from, field.most)}
		default:
			field.set(*field.from)
		}
	}
	return limits, nil
}
