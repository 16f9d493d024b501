package openai

import "github.com/weirkeeper/weirkeeper/extraction"

// FewestTokens is what no tokenizer does with less than.
func FewestTokens(s string) int64 { return measure(s).fewest() }

// Meter judges how a server counts.
type Meter struct{ m *meter }

func NewMeter() Meter { return Meter{&meter{}} }

func (m Meter) Cuts(req extraction.Request, promptTokens int64) bool {
	return m.m.cuts(measure(req.SystemPrompt).fewest(), req.Text, promptTokens)
}
