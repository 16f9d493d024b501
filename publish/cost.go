package publish

import (
	"math"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Prices are what a million tokens cost, in any currency.
type Prices struct {
	In  float64 // of prompts
	Out float64 // of answers
}

// Check returns a [*ConfigError] if a price is no amount of money.
func (p Prices) Check() error {
	for name, price := range map[string]float64{"price of prompt tokens": p.In, "price of answer tokens": p.Out} {
		if !(price >= 0) || math.IsInf(price, 0) {
			return &ConfigError{name, "must be 0 or more"}
		}
	}
	return nil
}

// Cost is what the reported tokens cost, in the currency of the prices.
func (p Prices) Cost(u extraction.Usage) float64 {
	const perTokens = 1e6
	return (float64(u.PromptTokens)*p.In + float64(u.CompletionTokens)*p.Out) / perTokens
}

// AddCost fills in the cost of every document and of all.
func (s *Status) AddCost(p Prices) {
	set := func(progress *Progress) {
		cost := p.Cost(progress.Usage)
		progress.Cost = &cost
	}
	for i := range s.Documents {
		set(&s.Documents[i].Progress)
	}
	set(&s.Total)
}
