package tagger

import (
	"context"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// Model is a trained tagger. It is immutable and safe for concurrent use.
type Model struct {
	table   *table
	packed  []packed                        // the rows of a finished model, nil while it learns
	steps   [numLabels + 1][numLabels]int32 // weight of label after label; row numLabels is the start
	common  map[uint32]bool                 // low halves of the hashes of words that are written in lower case
	lexicon map[uint64]uint64               // hash of a word to the lists it is on, one bit each

	nameLists, acronyms, demonyms uint64 // bits of lists
}

// scores holds a sum for every label.
type scores [numLabels]int32

// Tag returns the names in the sentences of one text, sentence by sentence. Its
// only error is the context's.
func (m *Model) Tag(ctx context.Context, content string, sentences []prose.Sentence) ([][]Mention, error) {
	t := m.newText(content, sentences)
	out := make([][]Mention, len(sentences))
	for i := range sentences {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = t.tag(i)
	}
	agree(content, sentences, out)
	return out, nil
}

// text is a text being tagged: the model's view of its sentences. It is not
// safe for concurrent use.
type text struct {
	model *Model
	words [][]word
	doc   document
	feats []uint32
	score []scores
	back  [][numLabels]int8
}

// newText reads the sentences; how a word is written in one of them counts in
// all others.
func (m *Model) newText(content string, sentences []prose.Sentence) *text {
	t := &text{model: m, words: make([][]word, len(sentences)), doc: document{lowered: map[uint64]bool{}, capital: map[uint64]bool{}}}
	for i, s := range sentences {
		t.words[i] = m.words(content, s)
		if !s.Title {
			t.doc.remember(t.words[i])
		}
	}
	return t
}

// tag returns the names in one sentence.
func (t *text) tag(sentence int) []Mention {
	labels, margins := t.decode(t.words[sentence])
	return mentions(labels, margins)
}

// emissions scores every label of every token, without regard to order.
func (t *text) emissions(ws []word) []scores {
	if cap(t.score) < len(ws) {
		t.score = make([]scores, len(ws))
	}
	score := t.score[:len(ws)]
	for i := range ws {
		t.feats = t.model.features(t.feats[:0], ws, i, &t.doc)
		if t.model.packed != nil {
			score[i] = t.model.sumPacked(t.feats)
		} else {
			score[i] = t.model.sum(t.feats)
		}
	}
	return score
}

func (m *Model) sum(features []uint32) (sum scores) {
	for _, f := range features {
		if n := m.table.find(f); n >= 0 {
			for l, v := range &m.table.rows[n] {
				sum[l] += int32(v)
			}
		}
	}
	return sum
}

func (m *Model) sumPacked(features []uint32) scores {
	var sum packed
	rows := int32(0)
	for _, f := range features {
		if n := m.table.find(f); n >= 0 {
			sum.add(&m.packed[n])
			rows++
		}
	}
	return sum.unpack(rows)
}

// decode finds the best sequence of labels and, for each token, by how much
// its label leads over the best other.
func (t *text) decode(ws []word) (labels, margins []int) {
	score := t.emissions(ws)
	if cap(t.back) < len(ws) {
		t.back = make([][numLabels]int8, len(ws))
	}
	back := t.back[:len(ws)]
	const never = -1 << 30
	best := scores{}
	for i := range ws {
		next := scores{}
		for l := range numLabels {
			if i == 0 {
				next[l] = never
				if follows(-1, l) {
					next[l] = t.model.steps[numLabels][l] + score[0][l]
				}
				continue
			}
			top, from := int32(never), 0
			if l == 0 || l%2 == 1 {
				for p := range numLabels {
					if v := best[p] + t.model.steps[p][l]; v > top {
						top, from = v, p
					}
				}
			} else {
				for p := l - 1; p <= l; p++ {
					if v := best[p] + t.model.steps[p][l]; v > top {
						top, from = v, p
					}
				}
			}
			next[l], back[i][l] = max(top+score[i][l], never), int8(from)
		}
		best = next
	}
	labels, margins = make([]int, len(ws)), make([]int, len(ws))
	if len(ws) == 0 {
		return labels, margins
	}
	last := 0
	for l := range numLabels {
		if best[l] > best[last] {
			last = l
		}
	}
	for i := len(ws) - 1; i >= 0; i-- {
		labels[i] = last
		other := int32(never)
		for l, v := range score[i] {
			if l != last && v > other {
				other = v
			}
		}
		margins[i] = int(score[i][last] - other)
		last = int(back[i][last])
	}
	return labels, margins
}

// mentions reads the names out of a sequence of labels.
func mentions(labels, margins []int) []Mention {
	var out []Mention
	for i := 0; i < len(labels); i++ {
		if labels[i]%2 == 0 {
			continue
		}
		m := Mention{From: i, To: i + 1, Type: Type(labels[i] / 2), Margin: margins[i]}
		for m.To < len(labels) && labels[m.To] == labels[i]+1 {
			m.Margin += margins[m.To]
			m.To++
		}
		m.Margin /= m.To - m.From
		out = append(out, m)
		i = m.To - 1
	}
	return out
}
