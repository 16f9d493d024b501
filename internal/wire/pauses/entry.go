package pauses

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	// Default is how long a pause lasts unless its operator says otherwise.
	Default = time.Hour
	// Longest is how long one may last, so that what everybody has forgotten
	// does not stand still for ever. The bucket forgets entries a day later.
	Longest = 30 * 24 * time.Hour

	// tolerance is for servers of a cluster whose clocks differ.
	tolerance = time.Hour
)

const (
	fleetKey     = "fleet"
	tenantPrefix = "tenant."
)

// Pause is one entry of the bucket.
type Pause struct {
	Fleet  bool      `json:"fleet"`            // everything, or else
	Tenant string    `json:"tenant,omitempty"` // this tenant
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"` // one line
}

// Key is where the pause is stored: "fleet", or "tenant." and the tenant's token.
func (p Pause) Key() string {
	if p.Fleet {
		return fleetKey
	}
	return tenantPrefix + wire.EncodeToken(p.Tenant)
}

// Value is what is stored there.
func (p Pause) Value() ([]byte, error) {
	return json.Marshal(struct {
		Until  time.Time `json:"until"`
		Reason string    `json:"reason,omitempty"`
	}{p.Until.UTC(), p.Reason})
}

// InvalidEntryError says what is wrong with an entry of the bucket.
type InvalidEntryError struct {
	Reason string
}

func (e *InvalidEntryError) Error() string { return "invalid pause: " + e.Reason }

// Parse reads one entry, {"until":"2026-01-31T12:00:00Z","reason":"..."}, that the
// server stored at the given time. Other members are ignored. A pause that has
// ended is none the less a valid entry. The error is a [*InvalidEntryError].
func Parse(key string, value []byte, stored time.Time) (Pause, error) {
	var p Pause
	token, ok := strings.CutPrefix(key, tenantPrefix)
	switch {
	case key == fleetKey:
		p.Fleet = true
	case !ok:
		return Pause{}, &InvalidEntryError{`the key is neither "fleet" nor "tenant." and a tenant's token`}
	default:
		tenant, err := wire.DecodeToken(token)
		if err != nil {
			return Pause{}, &InvalidEntryError{"the key: " + err.Error()}
		}
		p.Tenant = tenant
	}
	var entry struct {
		Until  *time.Time `json:"until"`
		Reason string     `json:"reason"`
	}
	if err := json.Unmarshal(value, &entry); err != nil {
		return p, &InvalidEntryError{`want {"until":"2026-01-31T12:00:00Z","reason":"..."}: ` + wire.JSONProblem(err)}
	}
	switch {
	case entry.Until == nil:
		return p, &InvalidEntryError{"until is missing"}
	case entry.Until.Sub(stored) > Longest+tolerance:
		return p, &InvalidEntryError{fmt.Sprintf("until is more than %d days after it was stored", Longest/(24*time.Hour))}
	}
	p.Until, p.Reason = entry.Until.UTC(), wire.CleanError(entry.Reason)
	return p, nil
}
