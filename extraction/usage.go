package extraction

// Usage is what the model server charged for one call or several, 0 where it did
// not say.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	// Unreported counts the calls whose server did not say both: the rest is
	// less than what was used. A [Provider] leaves it 0; [Pipeline.Extract] sets it.
	Unreported int `json:"unreported,omitempty"`
}

// Complete reports whether the numbers are all that was used. Results of earlier
// versions, which do not count what was not reported, are judged by their numbers.
func (u Usage) Complete() bool {
	return u.Unreported == 0 && u.PromptTokens > 0 && u.CompletionTokens > 0
}

// Plus is the usage of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		PromptTokens: u.PromptTokens + v.PromptTokens, CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		Unreported: u.Unreported + v.Unreported,
	}
}

// ofOneCall is the usage of a call that was answered.
func (u Usage) ofOneCall() Usage {
	u.Unreported = 0
	if !u.Complete() {
		u.Unreported = 1
	}
	return u
}
