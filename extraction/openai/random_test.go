package openai_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// outcomes is what becomes of each catalogued behaviour; "" is a completion,
// whose content the pipeline judges.
func outcomes(streamed bool) map[string]extraction.Kind {
	const (
		completion  = extraction.Kind("")
		unavailable = extraction.KindUnavailable
	)
	all := map[string]extraction.Kind{
		"ok": completion, "slow": completion, "drip": completion, "prose": completion, "list": completion, "empty_object": completion,
		"no_relationships": completion, "truncated_json": completion, "trailing_comma": completion, "fence": completion,
		"think": completion, "think_unopened": completion, "nothing_found": completion, "array_content": completion,
		"no_finish": completion, "null_finish": completion, "odd_finish": completion, "no_usage": completion, "negative_usage": completion,
		"absurd_usage": completion, "wrong_type_usage": completion, "truncated_prompt": completion, "invented_entities": completion,
		"comma_missing": completion, "single_quotes": completion, "comment": completion, "twice": completion, "not_a_number": completion,
		"entities_object": completion, "entities_null": completion, "json_null": completion, "json_string": completion, "bad_rows": completion,
		"half_pair": completion, "lost_character": completion, "byte_order_mark": completion,

		"hang": unavailable, "reset": unavailable, "cut_body": unavailable, "huge": unavailable, "redirect": unavailable,
		"request_timeout": unavailable, "server_error": unavailable, "bad_gateway": unavailable, "overloaded": unavailable,
		"ok_error": unavailable, "ok_error_flat": unavailable, "ok_html": unavailable, "ok_empty": unavailable, "ok_null": unavailable,
		"ok_list": unavailable, "ok_array_body": unavailable, "ok_detail": unavailable, "overloaded_529": unavailable,

		"rate_limited": extraction.KindRateLimited, "rate_limited_silent": extraction.KindRateLimited,
		"rate_limited_zero": extraction.KindRateLimited, "rate_limited_odd": extraction.KindRateLimited, "rate_limited_half": extraction.KindRateLimited,
		"quota": extraction.KindQuota, "bad_key": extraction.KindAuth, "forbidden": extraction.KindAuth,
		"no_model": extraction.KindInvalidRequest, "bad_request": extraction.KindInvalidRequest,
		"unprocessable": extraction.KindInvalidRequest, "too_large": extraction.KindInvalidRequest,
		"context_openai": extraction.KindContextTooLong, "context_vllm": extraction.KindContextTooLong,
		"context_llamacpp": extraction.KindContextTooLong, "content_filter_azure": extraction.KindRefused,

		"no_choices": extraction.KindEmpty, "empty": extraction.KindEmpty, "blank": extraction.KindEmpty,
		"null_content": extraction.KindEmpty, "reasoning_only": extraction.KindEmpty, "reasoning_only_2": extraction.KindEmpty,
		"refusal": extraction.KindRefused, "content_filter": extraction.KindRefused,
		"moderated": extraction.KindRefused, "safety": extraction.KindRefused, "recitation": extraction.KindRefused, "prohibited": extraction.KindRefused,
		"max_tokens": extraction.KindTruncated, "length_whole": extraction.KindTruncated, "not_utf8": extraction.KindMalformed, "teapot": extraction.KindInvalidRequest,
		"length": extraction.KindTruncated, "length_empty": extraction.KindTruncated, "tool_calls": extraction.KindMalformed,
	}
	for _, name := range modelserver.Names() {
		if strings.HasPrefix(name, "stream_") {
			all[name] = completion
		}
	}
	if streamed {
		for _, name := range []string{
			"no_finish", "null_finish", "stream_error", "stream_error_event", "stream_error_field", "stream_broken_event", "stream_cut", "stream_ends_early", "stream_stalls",
		} {
			all[name] = unavailable
		}
	}
	return all
}

// Every call has exactly one outcome, the one that its fault calls for, whatever
// the other calls go through at the same time.
func TestAmongRandomFaultsEachCallHasItsOwnOutcome(t *testing.T) {
	t.Run("whole", func(t *testing.T) { amongRandomFaults(t, false) })
	t.Run("streamed", func(t *testing.T) { amongRandomFaults(t, true) })
}

func amongRandomFaults(t *testing.T, streamed bool) {
	want := outcomes(streamed)
	p := start(t, func(c *openai.Config) {
		c.Timeout, c.Stream, c.IdleTimeout = 5*time.Second, streamed, time.Second
	})
	mix := modelserver.Mix{Seed: 1, Weights: map[string]int{}}
	for _, name := range modelserver.Names() {
		require.Contains(t, want, name, "a behaviour without a known outcome")
		switch name {
		case "slow", "hang", "huge", "stream_stalls":
			continue // costly; tested one by one
		}
		mix.Weights[name] = 1
	}
	require.NoError(t, p.server.Mix(mix))

	const calls = 1000
	texts := make(chan string)
	wrong := make(chan string, calls)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for text := range texts {
				completion, err := p.ask(text)
				var failed *extraction.ProviderError
				kind := extraction.Kind("")
				if errors.As(err, &failed) {
					kind = failed.Kind
				}
				if name := mix.Pick(text); kind != want[name] || (err == nil) != (completion.Content != "") {
					wrong <- fmt.Sprintf("%s: %q %v", name, completion.Content, err)
				}
			}
		})
	}
	for i := range calls {
		texts <- fmt.Sprintf("Ada Lovelace wrote note %d.", i)
	}
	close(texts)
	workers.Wait()
	close(wrong)
	for failure := range wrong {
		t.Error(failure)
	}
	require.Equal(t, calls, p.server.Stats().Requests)
	require.Len(t, p.server.Stats().Behaviours, len(mix.Weights), "every fault came up")
}
