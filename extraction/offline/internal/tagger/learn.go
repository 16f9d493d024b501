package tagger

import (
	"cmp"
	"math/rand/v2"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// Example is one text whose names are known.
type Example struct {
	Text      string
	Sentences []prose.Sentence
	Names     [][]Mention // per sentence
}

// Options are the settings of the training.
type Options struct {
	Rounds int    // passes over all sentences
	Seed   uint64 // of the order in which they are seen
	Scale  int64  // average weights are multiplied by this and kept as whole numbers
	Keep   int32  // weights closer to zero than this are forgotten
}

// learner holds the running weights and what is needed for their average over
// all steps: sum(w) = step*w - owed.
type learner struct {
	model *Model
	owed  [][numLabels]int64 // by row
	steps [numLabels + 1][numLabels]int64
	now   int64
}

// Learn trains a model. The same examples, options and word lists give the
// same model.
func Learn(examples []Example, opt Options) *Model {
	m := newModel()
	m.table, m.common = newTable(1<<18), commonWords(examples)
	l := &learner{model: m}
	texts := make([]*text, len(examples))
	type place struct{ example, sentence int }
	var order []place
	for i, e := range examples {
		texts[i] = m.newText(e.Text, e.Sentences)
		for j := range e.Sentences {
			order = append(order, place{i, j})
		}
	}
	random := rand.New(rand.NewPCG(opt.Seed, 0))
	for range opt.Rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, p := range order {
			l.now++
			ws := texts[p.example].words[p.sentence]
			l.see(texts[p.example], ws, goldLabels(len(ws), examples[p.example].Names[p.sentence]))
		}
	}
	return l.average(opt)
}

func goldLabels(n int, names []Mention) []int {
	out := make([]int, n)
	for _, m := range names {
		out[m.From] = beginLabel(m.Type)
		for i := m.From + 1; i < m.To; i++ {
			out[i] = insideLabel(m.Type)
		}
	}
	return out
}

// see tags one sentence and moves the weights from the wrong labels to the
// right ones.
func (l *learner) see(t *text, ws []word, gold []int) {
	got, _ := t.decode(ws)
	prevGold, prevGot := numLabels, numLabels
	for i := range ws {
		if got[i] != gold[i] {
			t.feats = l.model.features(t.feats[:0], ws, i, &t.doc)
			for _, f := range t.feats {
				l.add(f, gold[i], 1)
				l.add(f, got[i], -1)
			}
		}
		if got[i] != gold[i] || prevGot != prevGold {
			l.model.steps[prevGold][gold[i]]++
			l.steps[prevGold][gold[i]] += l.now
			l.model.steps[prevGot][got[i]]--
			l.steps[prevGot][got[i]] -= l.now
		}
		prevGold, prevGot = gold[i], got[i]
	}
}

func (l *learner) add(f uint32, label int, by int16) {
	n := l.model.table.insert(f)
	if n == len(l.owed) {
		l.owed = append(l.owed, [numLabels]int64{})
	}
	l.model.table.rows[n][label] += by
	l.owed[n][label] += int64(by) * l.now
}

// average replaces the weights by their average over all steps, scaled, and
// forgets the small ones.
func (l *learner) average(opt Options) *Model {
	end := l.now + 1
	mean := func(w int32, owed int64) int32 {
		v := (int64(w)*end - owed) * opt.Scale
		return int32((v + sign(v)*end/2) / end)
	}
	learned := l.model.table
	l.model.table = newTable(len(learned.rows))
	for n, key := range learned.keys {
		var r row
		for i, w := range learned.rows[n] {
			v := min(max(mean(int32(w), l.owed[n][i]), -127), 127)
			if v >= opt.Keep || v <= -opt.Keep {
				r[i] = int16(v)
			}
		}
		if r != (row{}) {
			l.model.table.rows[l.model.table.insert(key)] = r
		}
	}
	for p := range l.model.steps {
		for i := range l.model.steps[p] {
			l.model.steps[p][i] = mean(l.model.steps[p][i], l.steps[p][i])
		}
	}
	l.model.freeze()
	return l.model
}

func sign(v int64) int64 { return int64(cmp.Compare(v, 0)) }

// commonWords returns the words that the examples write in lower case twice or
// more: at the start of a sentence their capital means nothing.
func commonWords(examples []Example) map[uint32]bool {
	count := map[uint64]int{}
	for _, e := range examples {
		for _, s := range e.Sentences {
			for _, t := range s.Tokens {
				if w := e.Text[t.Start:t.End]; !t.Opaque {
					if kind, _ := shapeOf(w); kind == kindLower {
						count[hashString(w)]++
					}
				}
			}
		}
	}
	out := map[uint32]bool{}
	for h, n := range count {
		if n > 1 {
			out[uint32(h)] = true
		}
	}
	for _, w := range plainWords() {
		out[uint32(hashString(w))] = true
	}
	return out
}
