package extraction

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// NormalizeName is the form under which two spellings of a name are one name:
// Unicode NFKC, case folded, white space collapsed, typographic quotes and
// dashes as ASCII, invisible characters left out. It is idempotent, and empty
// for a name without anything visible.
func NormalizeName(name string) string {
	if tidy(name) {
		return strings.ToLower(name)
	}
	n := fold(name)
	// What an invisible character kept apart may compose now.
	if !norm.NFKC.IsNormalString(n) {
		n = fold(norm.NFKC.String(n))
	}
	return n
}

// maxTypeRunes bounds a normalised type.
const maxTypeRunes = 64

// NormalizeType turns a type into lower snake case: "Works For", "WorksFor" and
// "works-for" are all works_for. The answer holds only letters, digits and
// single underscores between them, at most 64 runes, so that no exporter can
// stumble over it; it is empty if the type has no letter and no digit.
func NormalizeType(typ string) string {
	n, _ := normalizeType(typ)
	return n
}

func normalizeType(typ string) (normalized string, clipped bool) {
	if snake(typ) {
		return typ, false
	}
	var b strings.Builder
	runes, gap, lower := 0, false, false
	for _, r := range norm.NFKC.String(typ) {
		letter := unicode.IsLetter(r) || unicode.IsNumber(r)
		if !letter && !(unicode.IsMark(r) && runes > 0 && !gap) {
			gap = true
			continue
		}
		if runes > 0 && (gap || lower && unicode.IsUpper(r)) {
			if runes+2 > maxTypeRunes {
				clipped = true
				break
			}
			b.WriteByte('_')
			runes++
		}
		gap, lower = false, unicode.IsLower(r)
		if runes == maxTypeRunes {
			clipped = true
			break
		}
		b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		runes++
	}
	return norm.NFC.String(b.String()), clipped
}

// snake reports whether a type is normalised already, at first sight.
func snake(typ string) bool {
	for i := range len(typ) {
		c := typ[i]
		word := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !word && !(c == '_' && 0 < i && i < len(typ)-1 && typ[i-1] != '_') {
			return false
		}
	}
	return len(typ) <= maxTypeRunes
}

// EntityID names an entity for good: the same tenant, normalised name and
// normalised type give the same ID in every chunk, run and process, and another
// tenant never gives it.
func EntityID(tenant, name, typ string) string {
	return entityID(tenant, NormalizeName(name), NormalizeType(typ))
}

func entityID(tenant, normalName, normalType string) string {
	return digest("ent_", tenant, normalName, normalType)
}

// RelationshipID names a relationship of two entities of a tenant for good, in
// the same way.
func RelationshipID(tenant, sourceID, typ, targetID string) string {
	return digest("rel_", tenant, sourceID, NormalizeType(typ), targetID)
}

// digest is the prefix and 128 bits over the parts, in hex. Only the first part
// may hold a NUL, so no two lists of parts are joined to the same bytes.
func digest(prefix string, parts ...string) string {
	var buf [256]byte
	joined := buf[:0]
	for i, part := range parts {
		if i > 0 {
			joined = append(joined, 0)
		}
		joined = append(joined, part...)
	}
	sum := sha256.Sum256(joined)
	var out [64]byte
	return string(hex.AppendEncode(append(out[:0], prefix...), sum[:16]))
}
