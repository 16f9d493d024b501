package modelserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Default is what happens to a request that nothing else claims.
func (s *Server) Default(b Behaviour) { s.update(func() { s.script.otherwise = b }) }

// Then appends to the sequence: each behaviour answers one request.
func (s *Server) Then(b ...Behaviour) {
	s.update(func() { s.script.sequence = append(s.script.sequence, b...) })
}

// OnMarker answers requests whose text contains marker: the first with the first
// behaviour and so on; the last one stays. No behaviours remove the marker.
func (s *Server) OnMarker(marker string, b ...Behaviour) {
	s.update(func() { s.script.mark(marker, b) })
}

// Decide answers every request by a function, which must not call the server.
// Nil goes back to the script.
func (s *Server) Decide(f func(Request) Behaviour) { s.update(func() { s.script.decide = f }) }

// Mix answers a reproducible share of the texts with catalogued behaviours.
func (s *Server) Mix(m Mix) error {
	if err := m.validate(); err != nil {
		return err
	}
	s.update(func() { s.script.mix = m })
	return nil
}

// RequireKey refuses requests without this bearer token; "" accepts all.
func (s *Server) RequireKey(key string) { s.update(func() { s.script.key = key }) }

// RejectFormats refuses these response_format types with a 400 that names
// response_format.
func (s *Server) RejectFormats(types ...string) { s.update(func() { s.script.rejected = types }) }

// Throttle refuses what exceeds the limit; the zero Limit accepts all.
func (s *Server) Throttle(l Limit) { s.update(func() { s.script.limit, s.script.granted = l, nil }) }

// Release lets the requests that hang now go on.
func (s *Server) Release() {
	s.update(func() {
		close(s.release)
		s.release = make(chan struct{})
	})
}

// Reset forgets script and records. Requests in flight stay in flight.
func (s *Server) Reset() {
	s.update(func() {
		inFlight := s.journal.stats.InFlight
		s.script = script{}
		s.journal = newJournal(s.keep)
		s.journal.stats.InFlight, s.journal.stats.MaxInFlight = inFlight, inFlight
	})
}

// Stats are the counters now.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

// Records are copies of all records, oldest first.
func (s *Server) Records() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := make([]Record, 0, len(s.journal.records))
	for _, r := range s.journal.records {
		records = append(records, *r)
	}
	return records
}

// Calls is how many requests asked about exactly this text.
func (s *Server) Calls(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.perText[digest(text)]
}

// MaxInWindow is the largest number of requests that arrived within any span of
// the given width, of all or only of those whose text contains part.
func (s *Server) MaxInWindow(width time.Duration, part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.maxInWindow(width, part)
}

func (s *Server) snapshot() Stats {
	stats := s.journal.stats
	stats.Statuses = maps.Clone(stats.Statuses)
	stats.Behaviours = maps.Clone(stats.Behaviours)
	return stats
}

func (s *script) mark(marker string, b []Behaviour) {
	if s.markers == nil {
		s.markers = map[string][]Behaviour{}
	}
	if len(b) == 0 {
		delete(s.markers, marker)
		return
	}
	s.markers[marker] = b
}

// Command is the body of POST /control. What is absent stays as it is; Reset
// comes first, Release last.
type Command struct {
	Reset         bool                   `json:"reset,omitempty"`
	Default       *Behaviour             `json:"default,omitempty"`
	Then          []Behaviour            `json:"then,omitempty"`
	Markers       map[string][]Behaviour `json:"markers,omitempty"`
	Mix           *Mix                   `json:"mix,omitempty"`
	RequireKey    *string                `json:"require_key,omitempty"`
	RejectFormats *[]string              `json:"reject_formats,omitempty"`
	Throttle      *Limit                 `json:"throttle,omitempty"`
	Release       bool                   `json:"release,omitempty"`
}

// Apply does what the command says, or nothing when it returns an error.
func (s *Server) Apply(c Command) error {
	if c.Mix != nil {
		if err := c.Mix.validate(); err != nil {
			return err
		}
	}
	if c.Reset {
		s.Reset()
	}
	s.update(func() {
		if c.Default != nil {
			s.script.otherwise = *c.Default
		}
		s.script.sequence = append(s.script.sequence, c.Then...)
		for marker, b := range c.Markers {
			s.script.mark(marker, b)
		}
		if c.Mix != nil {
			s.script.mix = *c.Mix
		}
		if c.RequireKey != nil {
			s.script.key = *c.RequireKey
		}
		if c.RejectFormats != nil {
			s.script.rejected = *c.RejectFormats
		}
		if c.Throttle != nil {
			s.script.limit, s.script.granted = *c.Throttle, nil
		}
	})
	if c.Release {
		s.Release()
	}
	return nil
}

func (s *Server) command(w http.ResponseWriter, r *http.Request) {
	var c Command
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&c)
	if err == nil {
		err = s.Apply(c)
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, s.Stats())
}

// Report is the body of GET /control.
type Report struct {
	Stats
	MaxInWindow int `json:"max_in_window,omitempty"` // asked for with ?window_ms=N, and &contains=PART
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	report := Report{Stats: s.Stats()}
	if asked := r.FormValue("window_ms"); asked != "" {
		ms, err := strconv.Atoi(asked)
		if err != nil || ms <= 0 {
			writeJSON(w, http.StatusBadRequest, map[string]any{"error": fmt.Sprintf("window_ms %q is not a positive number", asked)})
			return
		}
		report.MaxInWindow = s.MaxInWindow(time.Duration(ms)*time.Millisecond, r.FormValue("contains"))
	}
	writeJSON(w, http.StatusOK, report)
}

func (s *Server) listRecords(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Records())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
