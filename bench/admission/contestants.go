package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// Nobody is refused here: what a refusal costs is another question.
const plenty = 1_000_000_000

var errRefused = errors.New("refused")

// ledgerOn is this project's: exact, by the server's clock.
func ledgerOn(url string) contestant {
	return ledgerWith(url, "ledger", 1, "bench", jetstream.FileStorage)
}

// ledgerWithoutSparesOn is how the ledger is while a window is more than half
// used: it takes nothing ahead. Here it is kept from it by a quota that is
// never the same again soon.
func ledgerWithoutSparesOn(url string) contestant {
	return ledgerWith(url, "no spares", 1000, "bench", jetstream.FileStorage)
}

// ledgerInMemoryOn is the same in memory storage, which is how Redis runs here.
func ledgerInMemoryOn(url string) contestant {
	return ledgerWith(url, "... in memory", 1000, "memory", jetstream.MemoryStorage)
}

func ledgerWith(url, name string, quotas uint64, bucket string, storage jetstream.StorageType) contestant {
	var n atomic.Uint64
	return contestant{name, eachProcess(url, func(js jetstream.JetStream) (admit, error) {
		c, err := openLedger(js, bucket, storage)
		return func(ctx context.Context, key string) error {
			q := kvcache.Quota{Window: time.Minute, Requests: plenty + int64(n.Add(1)%quotas)}
			a, err := c.Admit(ctx, key, kvcache.Ask{Quota: q})
			if err == nil && !a.Admitted {
				err = errRefused
			}
			return err
		}, err
	})}
}

func connect(url string) (jetstream.JetStream, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	return jetstream.New(nc)
}

func openLedger(js jetstream.JetStream, bucket string, storage jetstream.StorageType) (*natskv.Cache, error) {
	return natskv.Open(context.Background(), js, bucket, natskv.WithTimeout(5*time.Second), natskv.WithStorage(storage))
}

// casOn is the loop that one writes first: get, add one, update, and again if
// somebody was faster. It is let off cheaply, as it only counts and keeps no window.
func casOn(url string) contestant {
	return contestant{"get+update", eachProcess(url, func(js jetstream.JetStream) (admit, error) {
		kv, err := js.CreateOrUpdateKeyValue(context.Background(), jetstream.KeyValueConfig{Bucket: "cas"})
		return func(ctx context.Context, key string) error { return swap(ctx, kv, key) }, err
	})}
}

// publishOn only stores a message in a stream and waits for the acknowledgement: whatever
// is agreed on through JetStream cannot cost less without taking ahead.
func publishOn(url string) contestant {
	return contestant{"one publish", eachProcess(url, func(js jetstream.JetStream) (admit, error) {
		_, err := js.CreateOrUpdateStream(context.Background(), jetstream.StreamConfig{Name: "plain", Subjects: []string{"plain.*"}})
		return func(ctx context.Context, _ string) error {
			_, err := js.Publish(ctx, "plain.x", []byte("take 0\n"))
			return err
		}, err
	})}
}

// eachProcess gives every process a connection of its own.
func eachProcess(url string, open func(jetstream.JetStream) (admit, error)) func(processes int) ([]admit, func() uint64, error) {
	return func(processes int) ([]admit, func() uint64, error) {
		var admits []admit
		var conns []*nats.Conn
		for range processes {
			js, err := connect(url)
			if err != nil {
				return nil, nil, err
			}
			one, err := open(js)
			if err != nil {
				return nil, nil, err
			}
			conns, admits = append(conns, js.Conn()), append(admits, one)
		}
		return admits, sentBy(conns), nil
	}
}

func swap(ctx context.Context, kv jetstream.KeyValue, key string) error {
	for {
		entry, err := kv.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			_, err = kv.Create(ctx, key, []byte("0"))
			if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(entry.Value()))
		if err != nil {
			return err
		}
		_, err = kv.Update(ctx, key, []byte(strconv.Itoa(n+1)), entry.Revision())
		if refused := new(jetstream.APIError); !errors.As(err, &refused) {
			return err
		}
	}
}

func sentBy(conns []*nats.Conn) func() uint64 {
	return func() (sum uint64) {
		for _, nc := range conns {
			sum += nc.Stats().OutMsgs
		}
		return sum
	}
}

// redisRateOn is GCRA in one script by the Redis server's clock. It is not a
// window: it admits more than its rate in some spans.
func redisRateOn(address string) contestant {
	return contestant{"redis_rate", func(processes int) ([]admit, func() uint64, error) {
		limit := redis_rate.Limit{Rate: plenty, Burst: plenty, Period: time.Minute}
		var admits []admit
		for range processes {
			l := redis_rate.NewLimiter(redis.NewClient(&redis.Options{Addr: address}))
			admits = append(admits, func(ctx context.Context, key string) error {
				r, err := l.Allow(ctx, key, limit)
				if err == nil && r.Allowed == 0 {
					err = errRefused
				}
				return err
			})
		}
		return admits, func() uint64 { return 0 }, nil
	}}
}

// reportBytes shows that what an admission moves does not grow with the limit.
func reportBytes(url string) error {
	fmt.Println("\nbytes and requests per admission of the ledger, one caller")
	js, err := connect(url)
	if err != nil {
		return err
	}
	c, err := openLedger(js, "bench", jetstream.FileStorage)
	if err != nil {
		return err
	}
	nc := js.Conn()
	for _, limit := range []int{10, 10_000} {
		window := time.Minute
		if limit == 10 {
			window = 200 * time.Millisecond // so that it does not take ten minutes
		}
		ask := kvcache.Ask{Quota: kvcache.Quota{Window: window, Requests: int64(limit)}}
		key := fmt.Sprint("limit", limit)
		fill := min(limit/2, 5_000)
		var before nats.Statistics
		const count = 100
		for n := 0; n < fill+count; {
			if n == fill {
				before = nc.Stats()
			}
			a, err := c.Admit(context.Background(), key, ask)
			switch {
			case err != nil:
				return err
			case a.Admitted:
				n++
			default:
				time.Sleep(a.RetryAfter)
			}
		}
		after := nc.Stats()
		fmt.Printf("  limit %6d: %4.0f bytes, %.2f requests\n", limit,
			float64(after.InBytes-before.InBytes+after.OutBytes-before.OutBytes)/count, float64(after.OutMsgs-before.OutMsgs)/count)
	}
	return nil
}
