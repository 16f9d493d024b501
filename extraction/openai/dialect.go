package openai

import "sync"

// mode is a step of the ladder: how the answer's shape is asked for.
type mode int

const (
	modeSchema mode = iota
	modeObject
	modeText
)

// String is the output mode that results report.
func (m mode) String() string { return [...]string{"json_schema", "json_object", "text"}[m] }

// streaming is how an answer is asked for when it is to be streamed.
type streaming int

const (
	streamWithUsage streaming = iota
	streamPlain               // the server does not know stream_options
	noStream                  // it does not stream
)

// dialect is what the server understands of the API. The zero value assumes
// everything; each field moves in one direction only, so that concurrent
// calls cannot undo what others learnt.
type dialect struct {
	mode             mode
	completionTokens bool // it wants max_completion_tokens instead of max_tokens
	ownTemperature   bool // it insists on its own temperature
	streaming        streaming
	budget           int // the most tokens that it allows an answer, 0 if it has not said
}

// complaint is a feature that a server refused with status 400.
type complaint int

const (
	noComplaint complaint = iota
	aboutFormat
	aboutMaxTokens
	aboutTemperature
	aboutStreamOptions
	aboutStream
)

// without is the dialect that avoids what the server complained about, if there
// is one.
func (d dialect) without(c complaint) (dialect, bool) {
	next := d
	switch c {
	case aboutFormat:
		next.mode = min(d.mode+1, modeText)
	case aboutMaxTokens:
		next.completionTokens = true
	case aboutTemperature:
		next.ownTemperature = true
	case aboutStreamOptions:
		next.streaming = max(d.streaming, streamPlain)
	case aboutStream:
		next.streaming = noStream
	}
	return next, next != d
}

// difference names the feature that next gives up.
func (d dialect) difference(next dialect) string {
	switch {
	case next.mode != d.mode:
		return "response_format " + d.mode.String()
	case next.completionTokens != d.completionTokens:
		return "max_tokens"
	case next.ownTemperature != d.ownTemperature:
		return "temperature"
	case next.streaming == streamPlain:
		return "stream_options"
	default:
		return "stream"
	}
}

// memory keeps the dialect of one model on one server. It is safe for
// concurrent use.
type memory struct {
	mu     sync.Mutex
	spoken dialect
}

func (m *memory) dialect() dialect {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spoken
}

func (m *memory) merge(d dialect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spoken.mode = max(m.spoken.mode, d.mode)
	m.spoken.completionTokens = m.spoken.completionTokens || d.completionTokens
	m.spoken.ownTemperature = m.spoken.ownTemperature || d.ownTemperature
	m.spoken.streaming = max(m.spoken.streaming, d.streaming)
	m.spoken.budget = tighter(m.spoken.budget, d.budget)
}

// tighter is the smaller of two budgets, of which 0 is none.
func tighter(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
