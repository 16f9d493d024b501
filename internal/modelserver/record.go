package modelserver

import (
	"strings"
	"time"
)

// Record is one request that came in. Body and the whole Text are kept for the
// newest requests only, see [Options]; older ones keep the first 100 bytes of
// their text.
type Record struct {
	Seq       int       `json:"seq"`
	At        time.Time `json:"at"`
	Done      time.Time `json:"done"`   // zero while in flight
	Status    int       `json:"status"` // 0 while in flight, or when no response was sent
	Behaviour string    `json:"behaviour"`
	Model     string    `json:"model"`
	Format    string    `json:"format"`
	Schema    string    `json:"schema"`
	HasKey    bool      `json:"has_key"`
	Text      string    `json:"text"`
	Body      []byte    `json:"-"`
}

// Stats are the counters since the start or the last Reset.
type Stats struct {
	Requests      int            `json:"requests"`
	InFlight      int            `json:"in_flight"`
	MaxInFlight   int            `json:"max_in_flight"`
	Texts         int            `json:"texts"`          // different texts asked about
	MaxPerText    int            `json:"max_per_text"`   // requests for the text asked about most often
	Statuses      map[int]int    `json:"statuses"`       // responses sent, by status
	Behaviours    map[string]int `json:"behaviours"`     // requests, by what was done with them
	WithKey       int            `json:"with_key"`       // requests with an Authorization header
	ModelLists    int            `json:"model_lists"`    // GET /v1/models
	Connections   int            `json:"connections"`    // TCP connections accepted
	ParseFailures int            `json:"parse_failures"` // bodies that were not JSON
	First         time.Time      `json:"first"`          // arrival of the first request
	Last          time.Time      `json:"last"`           // arrival of the newest
}

const keptTextBytes = 100

// journal remembers requests. The server's lock guards it.
type journal struct {
	stats   Stats
	records []*Record
	perText map[string]int
	keep    int // how many of the newest keep body and text
}

func newJournal(keep int) *journal {
	return &journal{
		stats:   Stats{Statuses: map[int]int{}, Behaviours: map[string]int{}},
		perText: map[string]int{},
		keep:    keep,
	}
}

func (j *journal) arrived(req Request) *Record {
	record := &Record{
		Seq: req.Seq, At: req.At, Model: req.Model, Format: req.Format, Schema: req.Schema,
		HasKey: req.Key != "", Text: req.Text, Body: req.Body,
	}
	j.records = append(j.records, record)
	if old := len(j.records) - 1 - j.keep; old >= 0 {
		j.records[old].Body = nil
		j.records[old].Text = strings.Clone(clip(j.records[old].Text, keptTextBytes))
	}
	s := &j.stats
	s.Requests++
	s.InFlight++
	s.MaxInFlight = max(s.MaxInFlight, s.InFlight)
	if record.HasKey {
		s.WithKey++
	}
	if s.First.IsZero() {
		s.First = req.At
	}
	s.Last = req.At
	digest := digest(req.Text)
	j.perText[digest]++
	s.Texts = len(j.perText)
	s.MaxPerText = max(s.MaxPerText, j.perText[digest])
	return record
}

func (j *journal) chosen(r *Record, behaviour string) {
	r.Behaviour = behaviour
	j.stats.Behaviours[behaviour]++
}

func (j *journal) finished(r *Record, at time.Time, status int) {
	r.Done, r.Status = at, status
	j.stats.InFlight--
	if status != 0 {
		j.stats.Statuses[status]++
	}
}

// maxInWindow is the most arrivals in any half-open span of the given width
// among the records whose text contains part.
func (j *journal) maxInWindow(width time.Duration, part string) int {
	var times []time.Time
	most := 0
	first := 0
	for _, r := range j.records {
		if !strings.Contains(r.Text, part) {
			continue
		}
		times = append(times, r.At)
		for r.At.Sub(times[first]) >= width {
			first++
		}
		most = max(most, len(times)-first)
	}
	return most
}

// clip cuts s to at most n bytes without splitting a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
