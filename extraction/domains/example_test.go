package domains_test

import (
	"context"
	"fmt"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/domains"
)

// fixed is a provider that always writes the same.
type fixed string

func (f fixed) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	return extraction.Completion{Content: string(f), FinishReason: "stop"}, nil
}

func (fixed) Model() string { return "example/fixed" }

// A pipeline that reads each document with the domain that its keywords tell.
func Example() {
	known, err := domains.Parse("sea.yaml", `
domains:
  sea:
    description: Reports of ships and ports.
    keywords: [ship, port, anchor, captain]
    entities:
      ship: A vessel
fallback: general
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	chooser, err := extraction.NewChooser(extraction.ChooserConfig{
		Domains: known, Classifiers: []extraction.Classifier{extraction.NewKeywords(known)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := fixed(`{"relationships": [], "entities": [
		{"name": "Argo", "type": "ship", "description": "", "confidence": 0.9, "quote": "Argo"},
		{"name": "Jason", "type": "person", "description": "", "confidence": 0.9, "quote": "Jason"}]}`)
	pipeline, err := extraction.NewPipeline(model, extraction.WithChooser(chooser))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"Captain Jason, of the ship Argo, weighed anchor and left port.", "Jason told of the Argo."} {
		found, err := pipeline.Extract(context.Background(), "acme", extraction.Chunk{Text: text})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q, %d off schema\n", found.Domain.ID, found.Domain.FallbackReason, found.Counters.OffSchema)
	}
	// Output:
	// sea "", 1 off schema
	// general "the classifier found no domain that fits", 0 off schema
}
