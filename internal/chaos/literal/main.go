// Command literal is the worker that one would write first: all workers share one
// consumer, each slot fetches a message, asks the tenant's limit with the message in
// hand, and gives it back with the time to wait if there is none left; else it asks the
// model, publishes the result and acknowledges. It is the baseline of the scenarios in
// the package above, kept plain and honest, and no part of the product.
//
// Its limit is the obvious one as well: the times of the last calls under a key of a
// KeyValue bucket, read, counted, written. With -exact it is the product's limiter, so
// that what the consumer does is seen alone. Its circuit breaker is of the process, as
// those are that one can import. With -id its results have a message ID, and the server
// drops a second one that comes within two minutes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	rpm := flag.String("rpm", "unlimited", "calls per tenant and window")
	width := flag.Duration("window", time.Minute, "the window")
	slots := flag.Int("concurrency", 8, "chunks in hand")
	exact := flag.Bool("exact", false, "use the product's limiter")
	id := flag.Bool("id", false, "give results a message ID")
	threshold := flag.Int("failure-threshold", 5, "failures in a row that open the circuit")
	recovery := flag.Duration("recovery-timeout", time.Minute, "from there to the next call")
	flag.Parse()
	w := worker{circuit: &breaker{threshold: *threshold, recovery: *recovery}, id: *id}
	if err := w.run(*rpm, *width, *slots, *exact); err != nil {
		fmt.Fprintln(os.Stderr, "literal:", err)
		os.Exit(1)
	}
}

// worker is what its slots share.
type worker struct {
	js      jetstream.JetStream
	limit   limit
	circuit *breaker
	id      bool
}

func (w worker) run(rpm string, width time.Duration, slots int, exact bool) error {
	ctx := context.Background()
	nc, err := nats.Connect(os.Getenv("NATS_URL"), nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	for _, stream := range []jetstream.StreamConfig{
		{Name: "WEIR_CHUNKS", Subjects: []string{"weir.chunks.*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: "WEIR_RESULTS", Subjects: []string{"weir.results.>"}, MaxMsgsPerSubject: 1},
	} {
		if _, err := js.CreateOrUpdateStream(ctx, stream); err != nil {
			return err
		}
	}
	consumer, err := js.CreateOrUpdateConsumer(ctx, "WEIR_CHUNKS", jetstream.ConsumerConfig{Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return err
	}
	w.js = js
	if w.limit, err = openLimit(ctx, js, rpm, width, exact); err != nil {
		return err
	}
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for {
				batch, err := consumer.Fetch(1)
				if err != nil {
					fmt.Fprintln(os.Stderr, "fetch:", err)
					time.Sleep(time.Second)
					continue
				}
				for msg := range batch.Messages() {
					if err := w.handle(ctx, msg); err != nil {
						fmt.Fprintln(os.Stderr, "chunk:", err)
						_ = msg.NakWithDelay(time.Second)
					}
				}
			}
		})
	}
	all.Wait()
	return nil
}

// handle does one message.
func (w worker) handle(ctx context.Context, msg jetstream.Msg) error {
	_, tenant, _ := strings.Cut(msg.Subject(), "weir.chunks.")
	started := time.Now()
	wait, err := w.limit(ctx, tenant)
	if err != nil {
		return err
	}
	if wait > 0 {
		return msg.NakWithDelay(wait)
	}
	var chunk struct {
		Document string `json:"document_id"`
		Text     string `json:"text"`
	}
	if err := json.Unmarshal(msg.Data(), &chunk); err != nil {
		return err
	}
	if wait := w.circuit.enter(time.Now()); wait > 0 {
		return msg.NakWithDelay(wait)
	}
	err = ask(ctx, chunk.Text)
	w.circuit.left(time.Now(), err != nil)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"tenant_id": tenant, "document_id": chunk.Document, "started_at": started})
	if err != nil {
		return err
	}
	subject, opts := "weir.results."+tenant+"."+chunk.Document+".0", []jetstream.PublishOpt(nil)
	if w.id {
		opts = append(opts, jetstream.WithMsgID(subject))
	}
	if _, err := w.js.Publish(ctx, subject, body, opts...); err != nil {
		return err
	}
	return msg.DoubleAck(ctx)
}

// ask calls the model. What it says is of no interest here, but it has to be an answer.
func ask(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]any{"model": "test-model", "messages": []map[string]string{{"role": "user", "content": text}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("OPENAI_BASE_URL")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	var answer struct {
		Choices []struct{} `json:"choices"`
	}
	if err := json.Unmarshal(said, &answer); err != nil {
		return err
	}
	if len(answer.Choices) == 0 {
		return errors.New("the model has not answered")
	}
	return nil
}
