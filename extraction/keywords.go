package extraction

import (
	"context"
	"strings"
	"unicode"
)

// Keywords classifies by the words of a text, without any model call: the same
// text gets the same answer everywhere, within a fraction of a millisecond.
//
// A keyword of a domain that stands in the sample, in any case, counts 1, and up
// to 2 if it stands there often. The confidence is the share of the best domain
// among the points of the two best and two more that nobody gets: one
// hit is no more than a hint, and two domains that are as good as each other give
// less than a half. Words are runs of letters and digits, so keywords do not work
// for scripts without spaces.
type Keywords struct {
	ids     []string
	domains map[string][]int // by keyword: which domains it speaks for
	longest map[string]int   // by first word: of how many words keywords are
}

var _ Classifier = (*Keywords)(nil)

// NewKeywords takes the keywords of all domains.
func NewKeywords(d *Domains) *Keywords {
	k := &Keywords{domains: map[string][]int{}, longest: map[string]int{}}
	for i, domain := range d.list {
		k.ids = append(k.ids, domain.ID)
		seen := map[string]bool{}
		for _, keyword := range domain.Keywords {
			words := wordsOf(keyword)
			phrase := strings.Join(words, " ")
			if !seen[phrase] {
				seen[phrase] = true
				k.domains[phrase] = append(k.domains[phrase], i)
				k.longest[words[0]] = max(k.longest[words[0]], len(words))
			}
		}
	}
	return k
}

// nobodysPoints keep few hits from looking like certainty.
const nobodysPoints = 2

// Classify implements [Classifier]. It never fails.
func (k *Keywords) Classify(_ context.Context, s Sample) (Classification, error) {
	points := make([]float64, len(k.ids))
	for keyword, times := range k.hits(s.Title + "\n" + s.Text) {
		for _, domain := range k.domains[keyword] {
			points[domain] += often(times)
		}
	}
	best, first, second := -1, 0.0, 0.0
	for i, p := range points {
		if p > first {
			best, first, second = i, p, first
		} else if p > second {
			second = p
		}
	}
	if best < 0 {
		return Classification{}, nil
	}
	return Classification{Domain: k.ids[best], Confidence: first / (first + second + nobodysPoints)}, nil
}

// often is what n hits of one keyword count: 1, 1.5, 1.75, less than 2.
func often(n int) float64 {
	points, more := 0.0, 1.0
	for range min(n, 8) {
		points += more
		more /= 2
	}
	return points
}

// hits counts the keywords that stand in a text.
func (k *Keywords) hits(text string) map[string]int {
	found := map[string]int{}
	words := wordsOf(text)
	for i, word := range words {
		for n := 1; n <= k.longest[word] && i+n <= len(words); n++ {
			if phrase := strings.Join(words[i:i+n], " "); k.domains[phrase] != nil {
				found[phrase]++
			}
		}
	}
	return found
}

// wordsOf are the runs of letters, marks and digits of a text, folded.
func wordsOf(text string) []string {
	return strings.FieldsFunc(fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	})
}
