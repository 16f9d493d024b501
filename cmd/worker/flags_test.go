package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestRequestsAreANumberOrUnlimited(t *testing.T) {
	var r requests
	require.False(t, r.given)
	require.NoError(t, r.UnmarshalText([]byte("60")))
	require.Equal(t, int64(60), limitFlags{RPM: r}.limits().Requests)
	require.NoError(t, r.UnmarshalText([]byte("unlimited")))
	require.Equal(t, int64(resilience.Unlimited), limitFlags{RPM: r}.limits().Requests)
	require.Equal(t, int64(resilience.Unlimited), limitFlags{}.limits().Requests)
	for _, text := range []string{"", "0", "-1", "1.5", "many", "9999999999999999999"} {
		require.Error(t, r.UnmarshalText([]byte(text)), text)
	}
}

func TestProviderIsChosenByWhatIsSet(t *testing.T) {
	require.False(t, modelFlags{Provider: "auto"}.openai())
	require.True(t, modelFlags{Provider: "auto", OpenAIBaseURL: "http://h/v1"}.openai())
	require.True(t, modelFlags{Provider: "auto", OpenAIAPIKey: cli.NewSecret("k")}.openai())
	require.True(t, modelFlags{Provider: "openai"}.openai())
	require.False(t, modelFlags{Provider: "offline", OpenAIBaseURL: "http://h/v1"}.openai())
}

func TestEmbeddedServerIsForThisMachineOnly(t *testing.T) {
	for url, want := range map[string]int{
		"nats://127.0.0.1:4222": 4222, "nats://localhost": 4222, "127.0.0.1:5000": 5000, "nats://[::1]:7": 7,
	} {
		port, err := embeddedPort(url)
		require.NoError(t, err, url)
		require.Equal(t, want, port)
	}
	for _, url := range []string{"nats://10.0.0.1:4222", "nats://example.com", "nats://127.0.0.1:0", "nats://127.0.0.1:99999", "nats://a b"} {
		_, err := embeddedPort(url)
		require.Error(t, err, url)
	}
}

// Shells offer what a flag takes, if that is a closed set or has a word in it.
func TestWhatFlagsTakeIsOffered(t *testing.T) {
	for line, want := range map[string]string{
		"run --provider": "auto openai offline", "run --cache": "nats memory", "run --classify": "keywords model off", "run --replicas": "1 3 5",
		"run --rpm": "unlimited", "limits set acme --rpm": "unlimited", "run --log-format": "text json", "run --log-level": "debug info warn error",
		"try --format":     "text json jsonl dot mermaid graphml cypher csv html",
		"top --sort":       "waiting used wait flight results dead name",
		"dead list --kind": strings.Join(wire.DeadKinds(), " "), "dead replay --kind": strings.Join(wire.DeadKinds(), " "),
	} {
		var o told
		require.Zero(t, program(o.streams()).Run(t.Context(), append(append([]string{"complete-words", "--"}, strings.Fields(line)...), ""), &commands{}))
		require.Equal(t, want, strings.Join(strings.Fields(o.out.String()), " "), line)
	}
}

// Whoever watches <circuit>.state must find it by that name: a store would
// have to encode any other.
func TestCircuitNameIsPlain(t *testing.T) {
	valid := circuitFlags{FailureThreshold: 1, RecoveryTimeout: time.Second, HalfOpenMaxCalls: 1}
	for _, name := range []string{"default", "gpu-7_B", strings.Repeat("c", 128)} {
		valid.Circuit = name
		require.NoError(t, valid.check(), name)
	}
	for _, name := range []string{"", "my.circ *ü", "a.b", "a b", "a/b", "=x", "ü", "a\n", strings.Repeat("c", 129)} {
		valid.Circuit = name
		require.ErrorContains(t, valid.check(), "--circuit must be 1 to 128 letters, digits, - or _", name)
	}
}

func TestReadingAgainNeedsAModelAndABound(t *testing.T) {
	require.NoError(t, readingFlags{}.check(false))
	require.NoError(t, readingFlags{Gleaning: 8}.check(true))
	require.ErrorContains(t, readingFlags{Gleaning: 1}.check(false), "--gleaning")
	require.ErrorContains(t, readingFlags{Gleaning: 9}.check(true), "--gleaning")
	require.ErrorContains(t, readingFlags{Gleaning: -1}.check(true), "--gleaning")
	require.ErrorContains(t, readingFlags{CarryOver: true}.check(false), "--carry-over")
	require.NoError(t, readingFlags{CarryOver: true}.check(true))
}
