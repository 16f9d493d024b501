package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish"
)

func TestDifferenceForPeople(t *testing.T) {
	ada, bob := extraction.GraphEntity{ID: "a", Name: "Ada", Type: "person"}, extraction.GraphEntity{ID: "b", Name: "B\x1b[31mob", Type: "person"}
	knows := extraction.GraphRelationship{ID: "r", SourceID: "a", TargetID: "b", Type: "knows"}
	c := publish.Comparison{
		From:      publish.RunSummary{Models: []string{"openai/x"}, ChunksOnlyHere: 2},
		To:        publish.RunSummary{Run: "second", Models: []string{"openai/y"}},
		Documents: 1, Chunks: 3,
		Before: extraction.Graph{Entities: []extraction.GraphEntity{ada, bob}, Relationships: []extraction.GraphRelationship{knows}},
		After:  extraction.Graph{Entities: []extraction.GraphEntity{ada}},
	}
	c.SplitDifferently = []string{"d", "e\x1b"}
	c.Difference = extraction.Compare(c.Before, c.After)
	var out bytes.Buffer
	require.NoError(t, printDifference(&out, c))
	require.Equal(t, `- what was published without a run: openai/x
+ run second: openai/y
3 chunks of 1 document in both; not compared: 2 only in the first, 0 only in the second
not compared, since split differently: d, "e\x1b"

- "B\x1b[31mob" (person)
- Ada --knows--> "B\x1b[31mob"
entities: 1 kept, 1 disappeared, 0 appeared
relationships: 0 kept, 1 disappeared, 0 appeared
`, out.String())
}
