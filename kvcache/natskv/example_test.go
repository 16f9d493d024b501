package natskv_test

import (
	"context"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// Every process that opens the same bucket shares what is in it: hand the cache to a
// limiter and a breaker, as examples/guarded-call does. A process that runs for long
// calls Ensure now and then, so that it goes on if somebody deletes the bucket.
func ExampleCache_Ensure() {
	ctx := context.Background()
	nc, err := nats.Connect("nats://127.0.0.1:4222")
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	cache, err := natskv.Open(ctx, js, "shared")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = cache.Close() }()

	for range time.Tick(5 * time.Second) {
		created, err := cache.Ensure(ctx)
		if err != nil {
			log.Print(err) // it is tried again
		}
		for _, what := range created {
			log.Print("made again: ", what)
		}
	}
}
