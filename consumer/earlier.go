package consumer

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Bounds of what is looked up for one chunk.
const (
	earlierChunks = 3
	earlierNames  = 60
)

// Earlier looks up what the chunks before another one have yielded. It is safe for
// concurrent use.
//
// Workers do the chunks of a document in any order, so this is as much as is there:
// the names of those of the three chunks before whose results are stored when the
// chunk is begun, of whatever version of the document. It waits for none, and what
// cannot be read is not known.
type Earlier struct {
	js    jetstream.JetStream
	names wire.Names
}

// NewEarlier returns what looks in the results of one namespace. js stays the
// caller's.
func NewEarlier(js jetstream.JetStream, names wire.Names) (*Earlier, error) {
	if js == nil {
		return nil, &ConfigError{"js", "is required"}
	}
	return &Earlier{js, names}, nil
}

// Names are those that have evidence, of the nearest chunk first, each once, and at
// most 60. It fits [extraction.WithCarryOver].
func (e *Earlier) Names(ctx context.Context, tenant string, c extraction.Chunk) extraction.Earlier {
	var known extraction.Earlier
	if c.Index == 0 {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	results, err := openResults(ctx, e.js, e.names, unobserved{})
	if err != nil {
		return known
	}
	seen := map[string]bool{}
	for index := c.Index - 1; index >= max(0, c.Index-earlierChunks); index-- {
		msg, err := results.stream.GetLastMsgForSubject(ctx, e.names.ResultSubject(tenant, c.DocumentID, index))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return known
		}
		result, err := wire.DecodeResult(msg.Data)
		if err != nil {
			continue // somebody else's message
		}
		from := len(known.Names)
		for _, entity := range result.Entities {
			normal := extraction.NormalizeName(entity.Name)
			if entity.Evidence == nil || seen[normal] || len(known.Names) == earlierNames {
				continue
			}
			seen[normal] = true
			known.Names = append(known.Names, entity.Name)
		}
		if len(known.Names) > from {
			known.Chunks = append(known.Chunks, index)
		}
	}
	return known
}
