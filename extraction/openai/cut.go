package openai

import "sync"

const (
	// smallestContext is the least that a prompt is taken to be cut to, and contextStep
	// divides what contexts hold.
	smallestContext = 2048
	contextStep     = 1024
)

// meter judges how a server counts prompts. It is safe for concurrent use.
type meter struct {
	mu   sync.Mutex
	most int64             // tokens that it has reported of one prompt
	few  count             // of the last prompt of which it has reported too few
	seen [scripts]evidence // of texts in one kind of script
}

// evidence is the shortest and the longest prompt that a server has counted in full, by
// the fewest tokens that they have, and what it counted.
type evidence struct{ shortest, longest count }

type count struct{ fewest, tokens int64 }

// cuts reports whether the server read less than was sent, which is a system prompt of
// at least so many tokens and a text: servers that cut a long prompt in silence answer
// from the rest. To take an honest server's answers for such is worse than to miss some,
// and servers count in odd ways: without what they had cached, by words or characters, or
// always the same. So all of this must come together:
//
//   - The count is a fifth below the fewest tokens that any tokenizer makes of the prompt.
//   - It is what a context holds to the token, or one less: Ollama cuts there. Or it is
//     the same as of another prompt that was too long.
//   - The server has never read more.
//   - It has shown that it counts texts in this script: see [evidence.follows].
//
// A server that counts honestly is never accused, by the first. One that leaves out
// what it has cached can meet the second and third by chance once in hundreds of
// prompts that set a new record.
func (m *meter) cuts(system int64, text string, promptTokens int64) bool {
	if promptTokens <= 0 {
		return false
	}
	read := measure(text)
	fewest := read.fewest() + system
	m.mu.Lock()
	defer m.mu.Unlock()
	record := promptTokens >= m.most-1
	m.most = max(m.most, promptTokens)
	kind, single := read.script()
	if !single {
		return false
	}
	if promptTokens >= fewest {
		m.seen[kind].add(count{fewest, promptTokens})
		return false
	}
	if !record || promptTokens*5 > fewest*4 || !m.seen[kind].follows() {
		return false
	}
	before := m.few
	m.few = count{fewest, promptTokens}
	context := (promptTokens + 1) / contextStep * contextStep
	full := context >= smallestContext && promptTokens <= context
	return full || promptTokens == before.tokens && fewest != before.fewest
}

// add takes in a full count. A round one may be no count at all.
func (e *evidence) add(c count) {
	if c.tokens%64 == 0 {
		return
	}
	if e.shortest.fewest == 0 || c.fewest < e.shortest.fewest {
		e.shortest = c
	}
	if c.fewest > e.longest.fewest {
		e.longest = c
	}
}

// follows reports whether the counts grow with the texts: a prompt that is longer by
// half has a quarter more.
func (e *evidence) follows() bool {
	return e.shortest.fewest > 0 && e.longest.fewest*2 >= e.shortest.fewest*3 && e.longest.tokens*4 >= e.shortest.tokens*5
}
