package extraction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARelationshipNeedsASentenceThatSpeaksOfBothEnds(t *testing.T) {
	text := "Ada Lovelace met Charles Babbage. She was fond of his engine. The Bank of England was near, at 5 St. James St., in London. No. " +
		"Lovelace wrote to him. It rained. The year was cold. The Thames froze. Babbage was ill.\n\nThey were friends"
	for quote, evidence := range map[string]bool{
		"Lovelace met":                   true,
		"met":                            true,  // a word that means something is enough in their sentence
		"She was fond of his engine":     true,  // neither, but pronouns, behind a sentence with both
		"She was fond of his engine.":    true,  // with its end
		"They were friends":              false, // too far from one of them
		"wrote to him":                   true,  // one, and a pronoun
		"Babbage was ill":                false, // one, and nothing that may be the other
		"The Bank of England was near":   false, // neither
		"in London":                      false,
		"The year was cold":              false,
		"She was":                        false, // says nothing
		"No.":                            false,
		".":                              false,
		"he was fond of his engine":      false, // begins inside a word
		"She was not fond of his engine": false, // does not stand there
	} {
		d := related(drafted("Ada Lovelace", "person", "", "Charles Babbage", "person", ""), "Ada Lovelace", "knew", "Charles Babbage", quote)
		_, relationships, _ := ground(t, text, d)
		require.Equal(t, evidence, relationships[0].Evidence != nil, "%q", quote)
	}
}

// What is said of Ada Lovelace is said of no other Lovelace, whom the model made up to relate
// her to.
func TestARelativeNeedsWordsOfItsOwn(t *testing.T) {
	for _, tc := range []struct {
		said, source, target string
		evidence             bool
	}{
		{"Ada Lovelace wrote notes.", "John Lovelace", "Ada Lovelace", false},
		{"Ada Lovelace wrote notes.", "Ada Lovelace", "John Lovelace", false},
		{"Сергей Иванов пришёл домой.", "Пётр Иванов", "Сергей Иванов", false},
		{"John and Ada Lovelace wrote notes.", "John Lovelace", "Ada Lovelace", true},
		{"Ada Lovelace met old Lovelace.", "John Lovelace", "Ada Lovelace", true},
		{"Lovelace wrote to Ada.", "John Lovelace", "Ada Lovelace", true},
		{"Ada Lovelace and her father wrote notes.", "John Lovelace", "Ada Lovelace", false},
		{"John Lovelace slept. Ada Lovelace and her father wrote notes.", "John Lovelace", "Ada Lovelace", true},
		{"Ford Motor was young. It rained. Henry Ford ran the company.", "Henry Ford", "Ford Motor", true},
		{"Microsoft Office sells well.", "Microsoft", "Microsoft Office", true},
	} {
		d := related(drafted(tc.source, "x", "", tc.target, "x", ""), tc.source, "y", tc.target, tc.said[strings.LastIndex(tc.said, ". ")+1:])
		for i := range d.Entities {
			d.Entities[i].Quote = tc.said
		}
		_, relationships, _ := ground(t, tc.said, d)
		require.Equal(t, tc.evidence, relationships[0].Evidence != nil, "%s, %s: %s", tc.source, tc.target, tc.said)
	}
}

// Rows and items speak of what leads the table or the list in, and not of each other.
func TestARowSpeaksForItself(t *testing.T) {
	for _, tc := range []struct {
		text, quote, source, target string
		evidence                    bool
	}{
		{"| Firm | CEO |\n|---|---|\n| Acme | Alice |\n| Beta | Bob |", "| Acme | Alice |", "Acme", "Alice", true},
		{"| Firm | CEO |\n|---|---|\n| Acme | Alice |\n| Beta | Bob |", "| Acme | Alice |", "Acme", "Bob", false},
		{"| Firm | CEO |\n|---|---|\n| Acme | Alice |\n| Beta | Bob |", "Beta | Bob", "Acme", "Bob", false},
		{"Acme\tAlice\nBeta\tBob", "Beta\tBob", "Acme", "Bob", false},
		{"Acme\tAlice\nBeta\tBob", "Beta\tBob", "Beta", "Bob", true},
		{"- Acme has Alice\n- Beta has Bob", "Beta has Bob", "Acme", "Bob", false},
		{"Staff of Acme:\n1. Ada\n2. Ben\n3. Cleo\n4. Dan\n5. Alice, chief", "Alice, chief", "Acme", "Alice", true},
		{"# Acme\n\n| Role | Name |\n|---|---|\n| Chief | Alice |", "Chief | Alice", "Acme", "Alice", true},
		{"# Acme\n\n* Chief: Alice\n\n* Founder: Bob", "Founder: Bob", "Alice", "Bob", false},
		{"Acme has\n1 chief, Alice", "1 chief, Alice", "Acme", "Alice", true},
	} {
		d := related(drafted(tc.source, "x", "", tc.target, "x", ""), tc.source, "y", tc.target, tc.quote)
		_, relationships, _ := ground(t, tc.text, d)
		require.Equal(t, tc.evidence, relationships[0].Evidence != nil, "%q in %q", tc.quote, tc.text)
	}
}

func TestWhatIsNamedTooFarBackIsNotMeant(t *testing.T) {
	for between, evidence := range map[int]bool{0: true, 5: true, 6: false} {
		text := "Cook spoke." + strings.Repeat(" Snow fell.", between)
		for said, noun := range map[string]bool{" Apple said that he was right.": true, " The company, not Apple, was right.": true, " Apple was right.": false, " Apple saw company cars.": false} {
			d := related(drafted("Cook", "x", "", "Apple", "x", ""), "Cook", "y", "Apple", strings.TrimSpace(said))
			_, relationships, _ := ground(t, text+said, d)
			require.Equal(t, evidence && (noun || between == 0), relationships[0].Evidence != nil, "%d %q", between, said)
		}
	}
}

func TestTheShortestPassageOfARelationship(t *testing.T) {
	for _, tc := range []struct{ text, source, target, quote string }{
		{"Tim Cook, CEO of Apple, spoke.", "Tim Cook", "Apple", "CEO of"},
		{"Marie Curie and her husband Pierre Curie won.", "Marie Curie", "Pierre Curie", "her husband"},
		{"马云创立阿里巴巴。", "马云", "阿里巴巴", "创立"},
		{"Mr. Cook of Apple Inc. spoke.", "Cook", "Apple", "spoke"},
		{"Cook leads Apple.\nHe is liked.", "Cook", "Apple", "is liked"},
	} {
		d := related(drafted(tc.source, "x", "", tc.target, "x", ""), tc.source, "y", tc.target, tc.quote)
		_, relationships, _ := ground(t, tc.text, d)
		require.NotNil(t, relationships[0].Evidence, "%q", tc.quote)
		require.Equal(t, tc.quote, relationships[0].Evidence.Quote)
	}
}
