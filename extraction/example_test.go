package extraction_test

import (
	"context"
	"fmt"
	"os"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/graph"
)

// fixed is the smallest provider there is: it always writes the same.
type fixed string

func (f fixed) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	return extraction.Completion{Content: string(f), FinishReason: "stop"}, nil
}

func (fixed) Model() string { return "example/fixed" }

// A document goes in, a graph with verified quotes comes out.
func Example() {
	model := fixed(`{
		"entities": [
			{"name": "Ada Lovelace", "type": "Person", "description": "", "confidence": 0.9, "quote": "ada lovelace met"},
			{"name": "Charles Babbage", "type": "Person", "description": "", "confidence": 0.9, "quote": "he invented it"},
			{"name": "Romeo", "type": "Person", "description": "", "confidence": 0.9, "quote": "Romeo loves Juliet"}],
		"relationships": [
			{"source": "Ada Lovelace", "target": "Charles Babbage", "type": "met", "description": "", "confidence": null, "quote": "met Charles Babbage"}]}`)
	pipeline, err := extraction.NewPipeline(model)
	if err != nil {
		fmt.Println(err)
		return
	}
	splitter, err := extraction.NewSplitter(extraction.DefaultChunkSize, extraction.DefaultChunkOverlap)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := pipeline.ExtractDocument(context.Background(), "acme", splitter, extraction.Document{
		Text: "Ada Lovelace met Charles Babbage in London.",
	})
	if err != nil || found.Err() != nil {
		fmt.Println(err, found.Err())
		return
	}
	if err := graph.Write(os.Stdout, graph.FormatText, extraction.Merge(found.Parts...)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 3 entities and 1 relationship from 1 document, 1 chunk, read by example/fixed as general
	//
	// person
	//   Ada Lovelace  "Ada Lovelace met"
	//   Charles Babbage  "Charles Babbage"
	//   Romeo  (not found in the text)
	//
	// relationships
	//   Ada Lovelace --met--> Charles Babbage  "met Charles Babbage"
	//
	// notes
	//   1 fact kept whose quote is not in the text
	//   1 document read as general: the chunk names no domain
}
