package prose

// abbreviations keep their point and do not end a sentence.
var abbreviations = set("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "ltd", "co", "corp", "bros",
	"vs", "gen", "col", "lt", "maj", "capt", "sgt", "cmdr", "adm", "gov", "sen", "rep", "hon", "rev", "fr", "pres", "mt", "ft", "no",
	"approx", "ca", "cf", "e.g", "i.e", "etc", "al", "fig", "dept", "univ", "jan", "feb", "apr", "aug", "sept", "oct", "nov", "dec", "ph.d")

// sentenceOpeners are capitalised function words: after an abbreviation they
// show that a new sentence has begun.
var sentenceOpeners = set("The", "A", "An", "In", "On", "At", "He", "She", "It", "They", "We", "This", "That", "These", "Those", "His",
	"Her", "Its", "Their", "After", "Before", "When", "While", "As", "For", "From", "By", "But", "And", "Since", "However", "Although", "There", "If")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
