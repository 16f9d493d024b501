package extraction

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// What is known of letters at sight is what Unicode's tables say.
func TestPlainLettersAreAsUnicodeHasThem(t *testing.T) {
	known := 0
	for r := rune(0x80); r <= 0xFFFF; r++ {
		s := string(r)
		if spaced, dense := plainLetter(r); spaced || dense {
			known++
			scripted := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
			if !anyLetter(r) || spaced == scripted || dense != scripted {
				t.Fatalf("%q is no such letter", s)
			}
			if !norm.NFKC.PropertiesString(s).BoundaryBefore() || !norm.NFKD.PropertiesString(s).BoundaryBefore() {
				t.Fatalf("%q may join what is before it", s)
			}
			f := folder{space: -1}
			if f.segment(s, 0); string(f.text) != string(lower(r)) || fold(s) != string(f.text) {
				t.Fatalf("%q is folded to %q, not to %q", s, f.text, string(lower(r)))
			}
		}
		if isPunctuation(r) && (!norm.NFKC.PropertiesString(s).BoundaryBefore() || !norm.NFKD.PropertiesString(s).BoundaryBefore()) {
			t.Fatalf("%q may join what is before it", s)
		}
		if bare, is := bareLetter(r); is && unaccentedAny(s) != string(bare) {
			t.Fatalf("%q is %q without accents, not %q", s, unaccentedAny(s), bare)
		}
	}
	require.Greater(t, known, 30_000)
	require.Equal(t, "и е e", unaccented("й ё é"))
}
