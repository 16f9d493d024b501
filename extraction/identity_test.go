package extraction_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// R37: names are one name when a reader takes them for one.
func TestNormalizeName(t *testing.T) {
	for _, same := range [][]string{
		{"electron", "Electron", "ELECTRON", "  electron\t", "e\u200blectron", "\ufeffElectron", "Ｅｌｅｃｔｒｏｎ"},
		{"ada lovelace", "Ada  Lovelace", "Ada\r\nLovelace", "Ada\u00a0Lovelace", "ada\x00lovelace"},
		{"o'brien", "O’Brien", "O'Brien"},
		{"jean-luc", "Jean–Luc", "Jean\u2011Luc"},
		{"josé", "Jose\u0301", "JOSÉ"},
		{"strasse", "Straße", "STRASSE"},
		{"ῥόδος", "Ῥόδος"},
		{"σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"東京", "東京", "東京\u200e"},
		{"h2o", "H₂O"},
		{"", " ", "\u200b\u200e", "\x00"},
	} {
		for _, name := range same {
			require.Equal(t, extraction.NormalizeName(same[0]), extraction.NormalizeName(name), "%q", name)
		}
	}
	require.Equal(t, "ada lovelace", extraction.NormalizeName("Ada  Lovelace"))
	require.Equal(t, "jos\u00e9", extraction.NormalizeName("JOSE\u0301"), "the composed form, on which stored IDs rest")
	require.NotEqual(t, extraction.NormalizeName("Ada"), extraction.NormalizeName("Adah"))
	require.NotEqual(t, extraction.NormalizeName("C"), extraction.NormalizeName("C++"))
}

func TestNormalizeNameIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom(nil, unicode.M, unicode.Lu, unicode.Cf, unicode.Zs), 0, 8, -1)).Draw(t, "name")
		once := extraction.NormalizeName(name)
		require.Equal(t, once, extraction.NormalizeName(once))
		require.Equal(t, strings.TrimSpace(once), once)
	})
}

// R37: no type like `a b` reaches an exporter (LightRAG#2442).
func TestTypesAreNormalised(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "a_b", "PERSON": "person", "WorksFor": "works_for", "works for": "works_for", "WORKS-FOR": "works_for",
		" _Works__For_ ": "works_for", "a`b\"c\\d": "a_b_c_d", "人物": "人物", "B2B": "b2b", "": "", "--": "", "\n": "",
		"x]->(y)": "x_y", "Ａ": "a", "café": "café", "cafe\u0301": "café", "\u0301": "",
	} {
		require.Equal(t, want, extraction.NormalizeType(in), "%q", in)
	}
	rapid.Check(t, func(t *rapid.T) {
		typ := extraction.NormalizeType(rapid.String().Draw(t, "type"))
		require.Equal(t, typ, extraction.NormalizeType(typ))
		require.LessOrEqual(t, utf8.RuneCountInString(typ), 64)
		for i, r := range typ {
			require.True(t, unicode.In(r, unicode.L, unicode.N, unicode.M) || r == '_' && i > 0, "%q", typ)
		}
		require.False(t, strings.HasSuffix(typ, "_") || strings.Contains(typ, "__"), "%q", typ)
	})
}

func TestIDsAreDeterministicAndTenantScoped(t *testing.T) {
	id := extraction.EntityID("acme", "Ada  Lovelace", "Person")
	require.Equal(t, "ent_c4587b11dbab196ae8a09c3351766cca", id, "an ID may never change: stored results hold it")
	require.Equal(t, id, extraction.EntityID("acme", "ADA LOVELACE", "person"))
	require.NotEqual(t, id, extraction.EntityID("other", "Ada Lovelace", "person"))
	require.NotEqual(t, id, extraction.EntityID("acme", "Ada Lovelace", "program"))
	require.NotEqual(t, extraction.EntityID("a\x00b", "c", "d"), extraction.EntityID("a", "b\x00c", "d"))

	rel := extraction.RelationshipID("acme", id, "Works For", "ent_2")
	require.Equal(t, rel, extraction.RelationshipID("acme", id, "works_for", "ent_2"))
	require.NotEqual(t, rel, extraction.RelationshipID("acme", "ent_2", "works_for", id), "a relationship has a direction")
	require.NotEqual(t, rel, extraction.RelationshipID("other", id, "works_for", "ent_2"))
}

func TestDocumentAndChunkIDsAreTheDocumentedDigests(t *testing.T) {
	// printf 'hello' | sha256sum
	require.Equal(t, "2cf24dba5fb0a30e", extraction.DocumentID("hello"))
	// printf 'doc\0007\000hello' | sha256sum
	require.Equal(t, "d8be9184203a06f3f2289d0385a10982ecb9b9758803b2f30cc76c73c4ecdcbe", extraction.ChunkID("doc", 7, "hello"))
}

func BenchmarkNormalizeName(b *testing.B) {
	for b.Loop() {
		extraction.NormalizeName("Ada Lovelace")
	}
}
