package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// The circuit that is proved.
const (
	proofFailures = 3
	// proofPatience is how much longer than the recovery timeout it may take
	// until a probe is let through.
	proofPatience = 5 * time.Second
)

// proofRecoveries are the recovery timeouts with which the circuit is proved, one
// after another: who comes to the next call only when the circuit has recovered
// already has proved nothing, and tries with more time.
func proofRecoveries() []time.Duration {
	return []time.Duration{time.Second, 5 * time.Second, 25 * time.Second}
}

// errTooBusy is a proof that came to no end in time.
var errTooBusy = errors.New("this machine, or the NATS server, is too busy to tell: a call that the open circuit should have refused was made only when the circuit had recovered; try again")

// pace is how a check tells the time, and waits.
type pace struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

func (u *checkup) checkBreaker(ctx context.Context) (string, error) {
	return u.prove(ctx, u.circuitWorks, u.names.CircuitBucket())
}

// circuitWorks lets one worker call a port that nobody listens on until the
// circuit opens, looks whether another worker is refused too, and whether its
// call to a server that answers closes the circuit once it is due.
func (u *checkup) circuitWorks(ctx context.Context, p proof) (string, error) {
	for _, recovery := range proofRecoveries() {
		detail, err := u.circuitRecovers(ctx, p, recovery)
		if !errors.Is(err, errTooBusy) {
			return detail, err
		}
	}
	return "", errTooBusy
}

// circuitRecovers does that with one recovery timeout. The error is errTooBusy if
// that was over before the circuit could be looked at.
func (u *checkup) circuitRecovers(ctx context.Context, p proof, recovery time.Duration) (string, error) {
	alive, err := listen(http.StatusOK, `{"choices":[{"message":{"content":"{\"entities\":[],\"relationships\":[]}"},"finish_reason":"stop"}]}`)
	if err != nil {
		return "", err
	}
	defer alive.close()
	deadURL, err := deadPort()
	if err != nil {
		return "", err
	}
	circuit := circuitFlags{Circuit: u.probe, FailureThreshold: proofFailures, RecoveryTimeout: recovery, HalfOpenMaxCalls: 1}
	once := resilience.RetryPolicy{Multiplier: 1}
	dead, err := u.guarded(deadURL, p.one, circuit, once)
	if err != nil {
		return "", err
	}
	defer dead.close()
	healthy, err := u.guarded(alive.url, p.two, circuit, once)
	if err != nil {
		return "", err
	}
	defer healthy.close()

	// Neither failures nor an open circuit last longer than the recovery timeout.
	// Between two looks at the clock of the store there is some slack.
	begun := u.pace.now()
	inTime := func(err error) error {
		if u.pace.now().Sub(begun) < recovery*3/4 {
			return err
		}
		if kept := dead.breaker.Forget(ctx); kept != nil {
			return fmt.Errorf("%w; %w", err, kept) // nothing to try again on
		}
		return errTooBusy
	}
	if err := dead.fail(ctx, proofFailures); err != nil {
		if err = inTime(err); errors.Is(err, errTooBusy) {
			return "", err
		}
		// A call says nothing of a circuit that could not be written; this does.
		if stored := dead.breaker.Force(ctx, "worker check"); errors.Is(stored, kvcache.ErrUnavailable) {
			err = stored
		}
		return "", err
	}
	open, err := healthy.refused(ctx)
	if err != nil {
		return "", inTime(fmt.Errorf("another worker does not see the open circuit: %w", err))
	}
	if n := alive.requests.Load(); n > 0 {
		return "", fmt.Errorf("%d calls passed an open circuit", n)
	}
	took, err := healthy.recovers(ctx, u.pace, open.RetryAfter, recovery+proofPatience)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("opened after %d calls to a dead port, another worker was refused, and its probe closed it after %s",
		proofFailures, took.Round(10*time.Millisecond)), nil
}

// checkPermanent lets a server refuse a call for good. With the retries of the
// flags it must be asked once, and the circuit must not mind.
func (u *checkup) checkPermanent(ctx context.Context) (string, error) {
	server, err := listen(http.StatusBadRequest, `{"error":{"message":"this request will never be answered","type":"invalid_request_error"}}`)
	if err != nil {
		return "", err
	}
	defer server.close()
	cache := kvcache.NewMemory()
	defer func() { _ = cache.Close() }()
	circuit := circuitFlags{Circuit: u.probe, FailureThreshold: 1, RecoveryTimeout: time.Minute, HalfOpenMaxCalls: 1}
	caller, err := u.guarded(server.url, cache, circuit, u.flags.policy())
	if err != nil {
		return "", err
	}
	defer caller.close()
	begun := time.Now()
	err = caller.call(ctx)
	took := time.Since(begun)
	state, stateErr := caller.breaker.State(ctx)
	switch n := server.requests.Load(); {
	case !errors.Is(err, extraction.ErrInvalidRequest):
		return "", fmt.Errorf("status 400 came back as: %w", orNothing(err))
	case n != 1:
		return "", fmt.Errorf("the server was asked %d times", n)
	case stateErr != nil:
		return "", stateErr
	case state != resilience.Closed:
		return "", errors.New("the circuit opened, although the server had answered")
	}
	return fmt.Sprintf("status 400 failed at once (%s), after 1 request with up to %d retries allowed; the circuit stayed closed",
		took.Round(time.Millisecond), u.flags.MaxRetries), nil
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// caller is a model client as a worker has it, in front of a server of our own.
type caller struct {
	provider extraction.Provider
	client   *openai.Provider
	breaker  *resilience.Breaker
}

func (u *checkup) guarded(url string, cache kvcache.KeyValue, circuit circuitFlags, retry resilience.RetryPolicy) (*caller, error) {
	config := breakerConfig(circuit, cache, u.logger, nil)
	config.Clock = u.pace.now
	breaker, err := resilience.NewBreaker(config)
	if err != nil {
		return nil, err
	}
	guard, err := resilience.NewGuard(resilience.GuardConfig{Breaker: breaker, Retry: &retry, Classify: hardened.Classify, Logger: u.logger})
	if err != nil {
		return nil, err
	}
	client, err := openai.New(openai.Config{BaseURL: url, Model: u.probe, Timeout: proofPatience, Logger: u.logger})
	if err != nil {
		return nil, err
	}
	return &caller{hardened.New(client, guard), client, breaker}, nil
}

func (c *caller) close() {
	_ = c.client.Close()
	_ = c.breaker.Close()
}

func (c *caller) call(ctx context.Context) error {
	_, err := c.provider.Extract(ctx, extraction.Request{Tenant: "check", SystemPrompt: "Answer.", Text: checkText})
	return err
}

// fail makes n calls that must reach nobody; the next one must be refused.
func (c *caller) fail(ctx context.Context, n int) error {
	for range n {
		if err := c.call(ctx); !errors.Is(err, extraction.ErrUnavailable) {
			return fmt.Errorf("a call to a dead port came back as: %w", orNothing(err))
		}
	}
	if _, err := c.refused(ctx); err != nil {
		return fmt.Errorf("still not open after %d failed calls: %w", n, err)
	}
	return nil
}

// refused makes a call that the circuit must refuse.
func (c *caller) refused(ctx context.Context) (*resilience.CircuitOpen, error) {
	err := c.call(ctx)
	if open, ok := errors.AsType[*resilience.CircuitOpen](err); ok {
		return open, nil
	}
	return nil, fmt.Errorf("the call came back as: %w", orNothing(err))
}

// recovers waits until a probe is let through, which must close the circuit, and
// returns how long that took. A call is refused for no longer than most.
func (c *caller) recovers(ctx context.Context, pace pace, wait, most time.Duration) (time.Duration, error) {
	begun := pace.now()
	for {
		if err := pace.sleep(ctx, wait); err != nil {
			return 0, err
		}
		asked := pace.now() // before the call: however long that takes, it was not refused late
		err := c.call(ctx)
		open, refused := errors.AsType[*resilience.CircuitOpen](err)
		switch took := pace.now().Sub(begun); {
		case refused && asked.Sub(begun) < most:
			wait = open.RetryAfter
		case err != nil:
			return 0, fmt.Errorf("no recovery within %s: %w", took.Round(time.Millisecond), err)
		default:
			state, err := c.breaker.State(ctx)
			if err == nil && state != resilience.Closed {
				err = fmt.Errorf("the circuit is %s after a probe that succeeded", state)
			}
			return took, err
		}
	}
}

// answering is a model server on this machine that has one answer.
type answering struct {
	url      string
	requests atomic.Int64
	server   *http.Server
	ended    chan struct{}
}

func listen(status int, body string) (*answering, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &answering{url: "http://" + listener.Addr().String() + "/v1", ended: make(chan struct{})}
	a.server = &http.Server{ReadHeaderTimeout: proofPatience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a.requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // a client that has gone will complain itself
	})}
	go func() {
		defer close(a.ended)
		_ = a.server.Serve(listener) // always http.ErrServerClosed, after close
	}()
	return a, nil
}

func (a *answering) close() {
	_ = a.server.Close()
	<-a.ended
}

// deadPort is the URL of a port that nobody listens on: it was free a moment
// ago.
func deadPort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "http://" + listener.Addr().String() + "/v1", listener.Close()
}
