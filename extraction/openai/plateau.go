package openai

const (
	// smallestPlateau is the least context that a plateau is looked for at. Below it
	// prompts of one kind have the same counts too easily.
	smallestPlateau = 2048
	// plateauWindow is how many of the last counts are looked at.
	plateauWindow = 64
	// plateauTexts is how many texts must have had the same count.
	plateauTexts = 3
	// beside is how far below a plateau the counts of an honest server would be, too.
	beside = 128
)

// plateau notices that prompts of different length are all counted as one and the same
// number of tokens, the most that the server ever reported and just what a context
// holds: that is where it cuts. Somebody has to have cut some before it can be seen.
type plateau struct {
	counts [plateauWindow]count
	next   int
	most   int64
}

type count struct{ tokens, fewest int64 }

// reached notes the count of a text that it has not seen before, and reports whether
// that is of a prompt that was cut. A server that only ever says one number, or numbers
// that are round, does not count at all. Texts that are made alike have the same count, but
// no different length either.
func (p *plateau) reached(tokens, fewest int64) bool {
	p.counts[p.next%plateauWindow] = count{tokens, fewest}
	p.next++
	p.most = max(p.most, tokens)
	if tokens < smallestPlateau || tokens%contextStep != 0 || tokens != p.most {
		return false
	}
	same, near, counted := 0, 0, 0
	shortest, longest := fewest, fewest
	for _, c := range p.counts {
		switch {
		case c.tokens == tokens:
			same++
			shortest, longest = min(shortest, c.fewest), max(longest, c.fewest)
		case c.tokens >= tokens-beside:
			near++
		case c.tokens%64 != 0:
			counted++
		}
	}
	return same >= plateauTexts && near < same && counted >= 2 && longest*20 >= shortest*21
}
