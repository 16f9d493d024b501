package deliver

import (
	"errors"
	"fmt"
	"math"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/tokens"
	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// SplitFlags say how documents are cut into chunks.
type SplitFlags struct {
	ChunkSize    *int `group:"split" placeholder:"N" help:"Longest chunk, in characters. Default: 3000, or no limit but that of --chunk-tokens if it is given."`
	ChunkOverlap *int `group:"split" placeholder:"N" help:"Characters that a chunk repeats of the one before, fewer than a chunk has. Default: 200, or a quarter of --chunk-size if that is less."`
	ChunkTokens  int  `group:"split" placeholder:"N" help:"Longest chunk, in tokens as OpenAI's models since GPT-4o count them (o200k_base); other models count differently, so leave room. At least 16. With --chunk-size, both are limits. Default: no limit."`
}

// Splitter makes the splitter that the flags ask for. Errors are mistakes in the
// flags.
func (f SplitFlags) Splitter() (*extraction.Splitter, error) {
	size := extraction.DefaultChunkSize
	var options []extraction.SplitOption
	if f.ChunkTokens != 0 {
		if f.ChunkTokens < extraction.MinTokenBudget {
			return nil, cli.Usage(fmt.Errorf("--chunk-tokens must be at least %d, not %d", extraction.MinTokenBudget, f.ChunkTokens))
		}
		size = math.MaxInt32
		options = append(options, extraction.WithTokenBudget(f.ChunkTokens, tokens.NewCounter()))
	}
	if f.ChunkSize != nil {
		size = *f.ChunkSize
	}
	overlap := min(extraction.DefaultChunkOverlap, size/4)
	if f.ChunkOverlap != nil {
		overlap = *f.ChunkOverlap
	}
	splitter, err := extraction.NewSplitter(size, overlap, options...)
	if wrong, ok := errors.AsType[*extraction.ArgumentError](err); ok {
		return nil, cli.Usage(fmt.Errorf("--chunk-%s %s", wrong.Argument, wrong.Reason))
	}
	return splitter, err
}
