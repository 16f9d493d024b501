package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

type setupCommand struct {
	AckWait time.Duration `group:"work" default:"30s" help:"Time after which the document of a worker that has died while it split it is given to another one."`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (setupCommand) Help() string {
	return `Creates the streams, buckets and the consumer of documents that are missing, as the first worker would, and says what it made and what was there. It never
changes what exists, but for features that buckets made by hand lack. It is for fleets whose workers may not create anything: run it once, with an account that may. docs/security.md has the rights of both.`
}

// made is what became of one object.
type made struct {
	Object  string `json:"object"`
	Created bool   `json:"created"` // false: it was there
}

func (c *setupCommand) Run(ctx context.Context, streams cli.Streams) error {
	if c.AckWait < time.Second {
		return cli.Usage(errors.New("--ack-wait must be at least 1s"))
	}
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := s.setUp(ctx, c.AckWait)
	// What was made before something went wrong is told, too.
	if c.JSON {
		err = errors.Join(err, cli.WriteJSON(streams.Out, all))
	} else {
		err = errors.Join(err, printMade(streams.Out, all))
	}
	return err
}

func printMade(out io.Writer, all []made) error {
	for _, m := range all {
		word := "exists "
		if m.Created {
			word = "created"
		}
		if _, err := fmt.Fprintf(out, "%s  %s\n", word, m.Object); err != nil {
			return err
		}
	}
	return nil
}

// setUp makes everything that a worker needs.
func (s *session) setUp(ctx context.Context, ackWait time.Duration) ([]made, error) {
	missing, err := wire.EnsureEach(ctx, s.js, s.names)
	var all []made
	for _, o := range missing {
		all = append(all, made{o.Name, o.Created})
	}
	if err != nil {
		return all, unfit(err)
	}
	config := s.names.DocumentConsumerConfig(ackWait)
	_, created, err := wire.EnsureConsumer(ctx, s.js, s.names.DocumentStream(), config)
	if err != nil {
		return all, unfit(err)
	}
	all = append(all, made{"consumer " + config.Durable, created})
	for _, bucket := range sharedBuckets(s.names) {
		more, err := s.setUpState(ctx, bucket, bucket == s.names.RateLimitBucket())
		all = append(all, more...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// setUpState makes a bucket of shared state, and the stream of its windows.
func (s *session) setUpState(ctx context.Context, bucket string, windows bool) (all []made, err error) {
	exists, err := wire.BucketExists(ctx, s.js, bucket)
	if err != nil {
		return nil, err
	}
	cache, err := natskv.Open(ctx, s.js, bucket, natskv.WithReplicas(s.names.Replicas()))
	if err != nil {
		return nil, wire.Unanswered(s.js, "bucket "+bucket, "STREAM.CREATE.KV_"+bucket, unfit(err))
	}
	defer func() { _ = cache.Close() }()
	all = append(all, made{"bucket " + bucket, !exists})
	if !windows {
		return all, nil
	}
	stream := "LEDGER_" + bucket
	created, err := cache.EnsureLedger(ctx)
	if err != nil {
		return all, wire.Unanswered(s.js, "stream "+stream, "STREAM.CREATE."+stream, err)
	}
	return append(all, made{"stream " + stream, created}), nil
}
