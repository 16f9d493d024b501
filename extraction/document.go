package extraction

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DocumentID is the ID of a document that came without one: the first 16 hex
// digits of its text's SHA-256.
func DocumentID(text string) string { return TextSHA256(text)[:documentIDLength] }

const documentIDLength = 16

// TextSHA256 is the SHA-256 of a text, in hex.
func TextSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ChunkID is the SHA-256, in hex, of the document's ID, NUL, the index in
// decimal, NUL and the chunk's text.
func ChunkID(documentID string, index int, text string) string {
	h := sha256.New()
	h.Write([]byte(documentID + "\x00" + strconv.Itoa(index) + "\x00"))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// CheckText reports why a text cannot be worked on: a [BlankTextError] if there
// is nothing to read in it, an [*InvalidTextError] if it is not clean UTF-8. It
// is the one check of chunks and documents.
func CheckText(text string) error {
	if !utf8.ValidString(text) {
		return &InvalidTextError{Offset: firstInvalid(text), Reason: ReasonInvalidUTF8}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return &InvalidTextError{Offset: i, Reason: ReasonNUL}
	}
	if blank(text) {
		return BlankTextError{}
	}
	return nil
}

func firstInvalid(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// blank reports whether nothing in text can be seen.
func blank(text string) bool {
	return strings.IndexFunc(text, visible) < 0
}

func visible(r rune) bool { return !invisible(r) }

func invisible(r rune) bool {
	if '!' <= r && r <= '~' {
		return false
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}
