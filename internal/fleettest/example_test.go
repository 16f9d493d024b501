package fleettest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Two processes share one limit and one circuit: each opens the same bucket and
// hands it to its limiter and its breaker. Here both are in this process, each
// with a connection of its own.
func Example_shareLimitAndCircuit() {
	dir, _ := os.MkdirTemp("", "weirkeeper")
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()

	join := func(conn *nats.Conn) (*resilience.Guard, error) {
		js, err := jetstream.New(conn)
		if err != nil {
			return nil, err
		}
		cache, err := natskv.Open(context.Background(), js, "shared")
		if err != nil {
			return nil, err
		}
		settings := resilience.DefaultBreakerConfig()
		settings.Cache, settings.Name = cache, "model"
		breaker, err := resilience.NewBreaker(settings)
		if err != nil {
			return nil, err
		}
		limiter, err := resilience.NewLimiter(resilience.LimiterConfig{
			Cache: cache, Limits: resilience.Limits{Requests: 3, Window: time.Hour}})
		if err != nil {
			return nil, err
		}
		return resilience.NewGuard(resilience.GuardConfig{
			Breaker: breaker, Limiter: limiter,
			Classify: func(error) resilience.Class { return resilience.Class{Outcome: resilience.Failure} },
		})
	}
	var guards []*resilience.Guard
	for range 2 {
		conn, err := server.Connect(natsconn.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer conn.Close()
		guard, err := join(conn)
		if err != nil {
			fmt.Println(err)
			return
		}
		guards = append(guards, guard)
	}

	answered, refused := 0, 0
	for range 5 {
		for _, guard := range guards {
			err := guard.Do(context.Background(), resilience.Call{Tenant: "acme", Operation: "ask"},
				func(context.Context) (tokens int64, err error) { return 0, nil })
			var limited *resilience.RateLimitExceeded
			switch {
			case err == nil:
				answered++
			case errors.As(err, &limited):
				refused++
			default:
				fmt.Println(err)
			}
		}
	}
	fmt.Println(answered, "answered,", refused, "refused")
	// Output: 3 answered, 7 refused
}
