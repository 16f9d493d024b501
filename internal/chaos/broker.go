package main

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
	"github.com/weirkeeper/weirkeeper/internal/process"
)

// broker is a nats-server that can be killed and started again with its files and
// on its port.
type broker struct {
	program, store string
	output         io.Writer
	port           int
	process        *process.Process
}

func (b *broker) url() string { return "nats://127.0.0.1:" + strconv.Itoa(b.port) }

// start starts the server and waits until JetStream answers.
func (b *broker) start(ctx context.Context) error {
	if b.port == 0 {
		ports, err := freeport.Take(1)
		if err != nil {
			return err
		}
		b.port = ports[0]
	}
	var err error
	b.process, err = process.Command{
		Path: b.program, Args: []string{"--addr", "127.0.0.1", "--port", strconv.Itoa(b.port), "--jetstream", "--store_dir", b.store},
		Out: b.output, Err: b.output,
	}.Start()
	if err != nil {
		return err
	}
	return await(ctx, time.Minute, "nats-server answers", func() bool { return b.process.Running() && b.answers(ctx) })
}

func (b *broker) answers(ctx context.Context) bool {
	nc, err := nats.Connect(b.url(), nats.Timeout(time.Second))
	if err != nil {
		return false
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = js.AccountInfo(ctx)
	return err == nil
}

// kill is kill -9. The files stay.
func (b *broker) kill() {
	if b.process != nil {
		b.process.Kill()
	}
}
