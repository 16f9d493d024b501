package hardened_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// myModel is a provider of one's own: two methods.
type myModel struct{}

func (myModel) Model() string { return "mine/tiny" }

func (myModel) Extract(_ context.Context, req extraction.Request) (extraction.Completion, error) {
	if req.Text == "secret" {
		return extraction.Completion{}, &extraction.ProviderError{Kind: extraction.KindAuth, Status: 401}
	}
	return extraction.Completion{Content: `{"entities":[],"relationships":[]}`, FinishReason: "stop"}, nil
}

func Example() {
	breaker, err := resilience.NewBreaker(resilience.DefaultBreakerConfig())
	if err != nil {
		panic(err)
	}
	defer breaker.Close()
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 60}})
	if err != nil {
		panic(err)
	}
	defer limiter.Close()
	retry := resilience.DefaultRetryPolicy()
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker, Limiter: limiter, Retry: &retry, Classify: hardened.Classify,
	})
	if err != nil {
		panic(err)
	}

	provider := hardened.New(myModel{}, guard)
	for _, text := range []string{"Ada met Charles.", "secret", "Ada met Charles."} {
		answer, err := provider.Extract(context.Background(), extraction.Request{Tenant: "acme", Text: text})
		var open *resilience.CircuitOpen
		if errors.As(err, &open) {
			fmt.Println("refused:", open.Reason)
			continue
		}
		fmt.Println(provider.Model(), answer.Content, err)
	}
	// Output:
	// mine/tiny {"entities":[],"relationships":[]} <nil>
	// mine/tiny  model call failed: auth (status 401)
	// refused: model call failed: auth (status 401)
}
