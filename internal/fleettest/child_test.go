package fleettest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// A child is this test binary again, told by the environment what to join. It
// says "ready" and obeys one word per line until its standard input ends.
const (
	envNATS     = "FLEETTEST_NATS"
	envServer   = "FLEETTEST_SERVER"
	envProbes   = "FLEETTEST_PROBES"
	envRecovery = "FLEETTEST_RECOVERY"
	envLease    = "FLEETTEST_LEASE"
)

const bucket = "circuit"

func TestMain(m *testing.M) {
	if os.Getenv(envNATS) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := child(); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(0) // in the middle of whatever it is doing
}

func child() error {
	conn, err := nats.Connect(os.Getenv(envNATS))
	if err != nil {
		return err
	}
	probes, err := strconv.Atoi(os.Getenv(envProbes))
	if err != nil {
		return err
	}
	recovery, err := time.ParseDuration(os.Getenv(envRecovery))
	if err != nil {
		return err
	}
	lease, err := time.ParseDuration(os.Getenv(envLease))
	if err != nil {
		return err
	}
	breaker, err := openBreaker(conn, probes, recovery, lease)
	if err != nil {
		return err
	}
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker:  breaker,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Classify: func(err error) resilience.Class { return resilience.Class{Reason: err.Error()} },
	})
	if err != nil {
		return err
	}
	c := &caller{guard: guard, server: os.Getenv(envServer)}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "hammer":
			for range 2 {
				go c.hammer()
			}
		case "fail":
			if err := failOften(breaker); err != nil {
				return err
			}
			fmt.Println("done")
		}
	}
	return nil
}

// openBreaker joins the fleet's circuit, whose threshold is 100.
func openBreaker(conn *nats.Conn, probes int, recovery, lease time.Duration) (*resilience.Breaker, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	cache, err := natskv.Open(context.Background(), js, bucket)
	if err != nil {
		return nil, err
	}
	return resilience.NewBreaker(resilience.BreakerConfig{
		Cache: cache, Name: "model", FailureThreshold: 100, RecoveryTimeout: recovery, HalfOpenMaxCalls: probes, ProbeLease: lease,
	})
}

// failOften reports 5 failures at the same time.
func failOften(b *resilience.Breaker) error {
	errs := make([]error, 5)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			p, ok, err := b.Allow(context.Background())
			if err == nil && ok {
				err = p.Failure(context.Background(), "down")
			}
			errs[i] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// caller makes guarded calls to the model server.
type caller struct {
	guard  *resilience.Guard
	server string
}

// hammer calls without ever waiting for as long as a refusal asks, but leaves the
// machine some time for the others.
func (c *caller) hammer() {
	for {
		err := c.guard.Do(context.Background(), resilience.Call{Operation: "call"}, func(ctx context.Context) (int64, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server, nil)
			if err != nil {
				return 0, err
			}
			req.Header.Set("Pid", strconv.Itoa(os.Getpid()))
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return 0, err
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return 0, errors.New(res.Status)
			}
			return 0, nil
		})
		var open *resilience.CircuitOpen
		switch {
		case errors.As(err, &open):
			time.Sleep(10 * time.Millisecond)
		case err != nil:
			fmt.Fprintln(os.Stderr, "child:", err)
		}
	}
}
