package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/publish"
)

// A long id does not push the other columns out of sight, and the index stays.
func TestALetterIsListedInOneLine(t *testing.T) {
	letter := publish.Letter{Dead: publish.Dead{DocumentID: strings.Repeat("d", 300), ChunkID: "c", Index: 12}}
	require.Equal(t, strings.Repeat("d", nameColumn-1)+"…/12", chunkClipped(letter))
	letter.ChunkID = ""
	require.Equal(t, strings.Repeat("d", nameColumn-1)+"…", chunkClipped(letter))
	require.Equal(t, "-", chunkClipped(publish.Letter{}))
	require.Equal(t, "doc/3", chunkClipped(publish.Letter{Dead: publish.Dead{DocumentID: "doc", ChunkID: "c", Index: 3}}))
}
