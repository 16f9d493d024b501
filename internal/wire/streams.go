package wire

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxConsumers lifts the server's default of 1,000 consumers per stream, which
// a fleet with one lane per tenant would meet.
const maxConsumers = 100_000

// Streams is the shape in which missing streams are created.
func (n Names) Streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{
			Name:         n.ChunkStream(),
			Description:  "Weirkeeper: chunks waiting for extraction",
			Subjects:     []string{n.ChunkFilter()},
			Retention:    jetstream.WorkQueuePolicy,
			Storage:      jetstream.FileStorage,
			Replicas:     n.Replicas(),
			MaxConsumers: maxConsumers,
			Duplicates:   2 * time.Minute, // publishing the same document again at once is free
			// Tells idle workers whose chunk has been stored, without its body.
			RePublish: &jetstream.RePublish{Source: n.ChunkFilter(), Destination: n.subject(kindArrived, "{{wildcard(1)}}"), HeadersOnly: true},
		},
		{
			Name:         n.DocumentStream(),
			Description:  "Weirkeeper: raw documents waiting to be split",
			Subjects:     []string{n.DocumentFilter()},
			Retention:    jetstream.WorkQueuePolicy,
			Storage:      jetstream.FileStorage,
			Replicas:     n.Replicas(),
			MaxConsumers: maxConsumers,
			Duplicates:   2 * time.Minute,
		},
		{
			Name:              n.ResultStream(),
			Description:       "Weirkeeper: one result per chunk, the newest version",
			Subjects:          []string{n.ResultStreamFilter()},
			Retention:         jetstream.LimitsPolicy,
			Storage:           jetstream.FileStorage,
			Replicas:          n.Replicas(),
			Discard:           jetstream.DiscardOld,
			MaxMsgsPerSubject: 1,
			AllowDirect:       true,
			MaxConsumers:      maxConsumers,
		},
		{
			Name:         n.DeadStream(),
			Description:  "Weirkeeper: messages that were set aside, with the reason",
			Subjects:     []string{n.DeadFilter()},
			Retention:    jetstream.LimitsPolicy,
			Storage:      jetstream.FileStorage,
			Replicas:     n.Replicas(),
			Discard:      jetstream.DiscardOld,
			AllowDirect:  true,
			MaxConsumers: maxConsumers,
			// A letter is written again, under the same id, by whoever takes over
			// from a worker that died between writing and settling.
			Duplicates: 10 * time.Minute,
		},
	}
}

// OperatorBuckets is the shape of the buckets that operators write and workers
// follow, in which missing ones are created.
func (n Names) OperatorBuckets() []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{n.limitsBucketConfig(), n.pauseBucketConfig()}
}

func (n Names) limitsBucketConfig() jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket:      n.LimitsBucket(),
		Description: "Weirkeeper: limits per tenant",
		History:     1,
		Storage:     jetstream.FileStorage,
		Replicas:    n.Replicas(),
	}
}

func (n Names) pauseBucketConfig() jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket:      n.PauseBucket(),
		Description: "Weirkeeper: what is paused, and until when",
		History:     1,
		Storage:     jetstream.FileStorage,
		Replicas:    n.Replicas(),
		TTL:         31 * 24 * time.Hour, // no pause is longer
	}
}
