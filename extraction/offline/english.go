package offline

import (
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// isEnglish reports whether a text can be read by a tagger for English: in the
// Latin script, with English function words and more of them than of other
// languages' ones. Names and headings have few of either, so a short text gets
// the benefit of the doubt.
func isEnglish(text string, sentences []prose.Sentence) bool {
	words, otherScript, english, foreign := 0, 0, 0, 0
	for _, s := range sentences {
		for _, t := range s.Tokens {
			if t.Opaque {
				continue
			}
			switch c := text[t.Start]; {
			case c >= 0xc4: // letters from U+0100 on; é and ü start with 0xc3
				otherScript++
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == 0xc3:
				words++
				if t.End-t.Start > 6 {
					continue
				}
				w := text[t.Start:t.End]
				if foreignWords[w] { // in lower case: "de la Cruz" is a name, "Los Angeles" no Spanish
					foreign++
				} else if functionWords[strings.ToLower(w)] {
					english++
				}
			}
		}
	}
	if otherScript > words || foreign > english {
		return false
	}
	return words < 12 || english*20 >= words
}

var (
	functionWords = wordSet(`the of and to is was for that with as his he it by from are were which be this has had have not but they
		their its she her been who or you your we our at on if when will would can than then there where into only also a in an`)
	foreignWords = wordSet(`der das und ist nicht ein eine einen dem den des mit auf für von zu im sich auch wie bei nach war wird
		le la les et est un une du dans pour que qui sur avec pas au par il elle sont el los las y con por una del se es su lo
		di che per non della nel sono gli van het een niet zijn voor och att som det på av er til ikke og jeg em não os uma com dos
		nie jest na się w z ve bir bu ile ja ei oli yang dan tidak untuk dengan`)
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
