package openai

// smallestBudget is the fewest tokens that an answer can do anything with. A prompt
// that leaves less room is too long.
const smallestBudget = 256

// room is what a server says of the sizes when it refuses a request: many count
// the prompt and the whole budget of the answer against the model's context. What
// it does not say is 0.
type room struct {
	context int  // what the model can hold
	prompt  int  // of which the prompt takes this
	atLeast bool // or more: the server has stopped counting
	most    int  // the longest answer that it allows
}

// budgets are smaller ones than budget, which the server has refused: for all later
// requests, and for this one; 0 where there is nothing to gain. Half of the context
// is left to answers as a rule: a budget that followed each prompt would be refused
// again with every longer one, and one that followed the longest would cut the
// answers to all others. A prompt of more than that half gets what is left, just
// once.
func (r room) budgets(budget int) (all, this int) {
	usable := func(n int) int {
		if n < smallestBudget || n >= budget {
			return 0
		}
		return n
	}
	if r.most > 0 {
		return usable(r.most), usable(r.most)
	}
	left, half := r.context-r.prompt, r.context/2
	switch {
	case left < smallestBudget:
		return 0, 0 // the prompt is the reason
	case left >= half && usable(half) > 0:
		return half, half
	case r.atLeast:
		return usable(half), usable(min(half, budget) / 2)
	}
	return usable(half), usable(left)
}
