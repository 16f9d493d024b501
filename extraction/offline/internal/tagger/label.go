package tagger

// Type is what a name stands for.
type Type uint8

// The types that the training data tells apart.
const (
	Person Type = iota
	Organization
	Location
	Date
	Number
	Work    // books, songs, films, games, journals
	Event   // wars, elections, tournaments, conferences
	Product // software, languages, devices, services
	Other   // everything else with a name: awards, peoples, substances, laws
	numTypes
)

var typeNames = [numTypes]string{"person", "organization", "location", "date", "number", "work", "event", "product", "other"}

func (t Type) String() string { return typeNames[t] }

// A label is 0 for a token outside any name, 1+2t for the first token of a
// name of type t, 2+2t for the tokens after it.
const numLabels = 1 + 2*int(numTypes)

func beginLabel(t Type) int  { return 1 + 2*int(t) }
func insideLabel(t Type) int { return 2 + 2*int(t) }

// follows reports whether a label may follow prev (-1 at the start): the
// inside of a name only after its own beginning.
func follows(prev, label int) bool {
	if label == 0 || label%2 == 1 {
		return true
	}
	return prev == label || prev == label-1
}

// Mention is a name in a sentence: tokens From..To, To excluded.
type Mention struct {
	From, To int
	Type     Type
	// Margin is how far the labels of the name lead over the best others,
	// summed and in the unit of the weights. It is not a probability.
	Margin int
}
