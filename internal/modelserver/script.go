package modelserver

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Mix picks a behaviour for a share of the texts. The choice depends only on
// the seed and the text, so that a text that fails once fails always, and a
// check can foresee it with Pick.
type Mix struct {
	Seed    uint64         `json:"seed"`
	Weights map[string]int `json:"weights"` // catalogued name -> weight
}

// Pick is the name of the behaviour for a text.
func (m Mix) Pick(text string) string {
	total := 0
	for _, w := range m.Weights {
		total += w
	}
	if total <= 0 {
		return nameOK
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(text), m.Seed))
	at := int(binary.LittleEndian.Uint64(sum[:8]) % uint64(total))
	for _, name := range slices.Sorted(maps.Keys(m.Weights)) {
		if at -= m.Weights[name]; at < 0 {
			return name
		}
	}
	return nameOK
}

func (m Mix) validate() error {
	for name, w := range m.Weights {
		if _, err := Named(name); err != nil {
			return err
		}
		if w < 0 {
			return fmt.Errorf("weight of %q is negative", name)
		}
	}
	return nil
}

// Limit makes the server refuse with 429 and a true Retry-After whatever exceeds
// Requests in a sliding window.
type Limit struct {
	Requests int `json:"requests"`
	WindowMS int `json:"window_ms"`
}

// script decides what happens to a request. The server's lock guards it.
type script struct {
	key       string // required bearer token, "" = none
	rejected  []string
	limit     Limit
	granted   []time.Time // arrivals within the limit's window
	decide    func(Request) Behaviour
	markers   map[string][]Behaviour
	sequence  []Behaviour
	mix       Mix
	otherwise Behaviour
}

// next chooses: the key, the response formats, the limit, then the first that
// applies of function, marker, sequence, mix and default.
func (s *script) next(req Request) Behaviour {
	if s.key != "" && req.Key != s.key {
		return mustNamed("bad_key")
	}
	if slices.Contains(s.rejected, req.Format) {
		return rejectFormat(req.Format)
	}
	if wait := s.throttle(req.At); wait > 0 {
		seconds := int((wait + time.Second - 1) / time.Second)
		return mustNamed("rate_limited").WithHeader("Retry-After", fmt.Sprint(seconds)).
			WithHeader("Retry-After-Ms", fmt.Sprint(wait.Milliseconds()+1))
	}
	if s.decide != nil {
		return s.decide(req)
	}
	for _, marker := range slices.Sorted(maps.Keys(s.markers)) {
		if !strings.Contains(req.Text, marker) {
			continue
		}
		queue := s.markers[marker]
		if len(queue) > 1 {
			s.markers[marker] = queue[1:]
		}
		return queue[0]
	}
	if len(s.sequence) > 0 {
		b := s.sequence[0]
		s.sequence = s.sequence[1:]
		return b
	}
	if len(s.mix.Weights) > 0 {
		return mustNamed(s.mix.Pick(req.Text))
	}
	return s.otherwise
}

// throttle is how long a client has to wait; 0 grants the request.
func (s *script) throttle(now time.Time) time.Duration {
	if s.limit.Requests <= 0 {
		return 0
	}
	width := time.Duration(s.limit.WindowMS) * time.Millisecond
	for len(s.granted) > 0 && now.Sub(s.granted[0]) >= width {
		s.granted = s.granted[1:]
	}
	if len(s.granted) >= s.limit.Requests {
		return s.granted[0].Add(width).Sub(now)
	}
	s.granted = append(s.granted, now)
	return 0
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
