package e2e_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

const interrupt = syscall.SIGINT

const letter = `Ada Lovelace met Charles Babbage in London in 1833. Babbage worked at Cambridge.
Lovelace wrote the first program for the Analytical Engine.
`

func TestTryNeedsNothingButAFile(t *testing.T) {
	t.Parallel()
	readme, err := filepath.Abs(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	text := writeFile(t, "letter.txt", letter)
	temp := t.TempDir()
	done := command{program: "worker", args: []string{"try", text, readme}, env: []string{"TMPDIR=" + temp}}.run(t)
	require.Equal(t, 0, done.code, done)
	require.Contains(t, done.out, "Ada Lovelace")
	require.Contains(t, done.out, "Charles Babbage")
	require.Regexp(t, `(?m)^\d+ entities .* from 2 documents, .*, read by offline/\S+ as general`, done.out)
	require.Contains(t, done.errOut, "offline")
	require.Less(t, done.took, patience)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left, "the temporary server is removed")
}

func TestTryWritesEveryFormat(t *testing.T) {
	t.Parallel()
	text := writeFile(t, "letter.md", letter)
	for format, check := range map[string]func(string){
		"json":    func(out string) { require.True(t, json.Valid([]byte(out)), out) },
		"jsonl":   func(out string) { require.True(t, json.Valid([]byte(strings.Split(out, "\n")[0])), out) },
		"dot":     func(out string) { require.Contains(t, out, "digraph") },
		"mermaid": func(out string) { require.Contains(t, out, "flowchart") },
		"graphml": func(out string) { require.Contains(t, out, "</graphml>") },
		"html":    func(out string) { require.Contains(t, out, "</html>") },
		"cypher":  func(out string) { require.Contains(t, out, "UNWIND $rows") },
	} {
		done := command{program: "worker", args: []string{"try", "--format", format, text}}.run(t)
		require.Equal(t, 0, done.code, done)
		require.Contains(t, done.out, "Lovelace")
		check(done.out)
	}
}

func TestTryReadsStandardInput(t *testing.T) {
	t.Parallel()
	done := command{program: "worker", args: []string{"try", "-"}, stdin: letter}.run(t)
	require.Equal(t, 0, done.code, done)
	require.Contains(t, done.out, "Ada Lovelace")
}

func TestTryAsksTheModelServerThatTheEnvironmentNames(t *testing.T) {
	t.Parallel()
	model := modelServer(t)
	model.RequireKey("sk-hunter2hunter2")
	done := command{
		program: "worker", args: []string{"try", "--model", "test-model", "--format", "json", writeFile(t, "letter.txt", letter)},
		env: []string{"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=sk-hunter2hunter2"},
	}.run(t)
	require.Equal(t, 0, done.code, done)
	require.Equal(t, 1, model.Stats().Requests)
	require.Contains(t, done.out, "Ada Lovelace")
	require.NotContains(t, done.out+done.errOut, "hunter2")

	// Streamed, over a server that breaks off twice, it is the same.
	for _, name := range []string{"stream_cut", "stream_error"} {
		fault, err := modelserver.Named(name)
		require.NoError(t, err)
		model.Then(fault)
	}
	streamed := command{
		program: "worker", args: []string{"try", "--stream", "--initial-delay", "1ms", "--model", "test-model", "--format", "json", writeFile(t, "letter.txt", letter)},
		env: []string{"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=sk-hunter2hunter2"},
	}.run(t)
	require.Equal(t, 0, streamed.code, streamed)
	require.Equal(t, done.out, streamed.out)
	require.Equal(t, 4, model.Stats().Requests)
}

func TestTryEndsWithThreeWhenChunksAreLost(t *testing.T) {
	t.Parallel()
	model := modelServer(t)
	refusal, err := modelserver.Named("refusal")
	require.NoError(t, err)
	model.OnMarker("Secret", refusal)
	done := command{
		program: "worker", args: []string{"try", writeFile(t, "a.txt", letter), writeFile(t, "b.txt", "Secret Smith met Ada.")},
		env: []string{"OPENAI_BASE_URL=" + model.BaseURL()},
	}.run(t)
	require.Equal(t, 3, done.code, done)
	require.Contains(t, done.errOut, "refused")
	require.Contains(t, done.out, "Ada Lovelace", "what was found is printed")
}

func TestTryWithAWrongKeySaysSoAtOnce(t *testing.T) {
	t.Parallel()
	model := modelServer(t)
	model.RequireKey("another")
	done := command{
		program: "worker", args: []string{"try", writeFile(t, "a.txt", letter)},
		env: []string{"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=sk-hunter2hunter2"},
	}.run(t)
	require.Equal(t, 1, done.code, done)
	require.Contains(t, done.errOut, "401")
	require.NotContains(t, done.errOut, "hunter2")
	require.Less(t, done.took, soon)
	require.Equal(t, 1, model.Stats().Requests)
}

func TestTryEndsWithFourWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	model := modelServer(t)
	model.Default(modelserver.Behaviour{Hang: true})
	done := command{
		program: "worker", args: []string{"try", "--timeout", "500ms", writeFile(t, "a.txt", letter)},
		env: []string{"OPENAI_BASE_URL=" + model.BaseURL()},
	}.run(t)
	require.Equal(t, 4, done.code, done)
	require.Less(t, done.took, soon)
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	url := natsServer(t)
	good := writeFile(t, "good.txt", "Ada met Charles.")
	dir := t.TempDir()
	cases := map[string]struct {
		args  []string
		stdin string
		want  []string
	}{
		"missing":      {args: []string{good, filepath.Join(dir, "no.txt")}, want: []string{filepath.Join(dir, "no.txt"), "no such file"}},
		"empty folder": {args: []string{dir}, want: []string{dir, "no files in it"}},
		"format":       {args: []string{writeFile(t, "a.odt", "x")}, want: []string{"a.odt", ".jsonl, .markdown, .md, .pdf, .txt"}},
		"no PDF":       {args: []string{writeFile(t, "a.pdf", "x")}, want: []string{"a.pdf", "is not a PDF"}},
		"binary":       {args: []string{writeFile(t, "a.txt", "\x7fELF\x02\x01\x01\x00")}, want: []string{"a.txt:1: byte 7", "NUL"}},
		"not UTF-8":    {args: []string{writeFile(t, "a.md", "one\ncaf\xe9")}, want: []string{"a.md:2: byte 7", "not UTF-8"}},
		"blank":        {args: []string{writeFile(t, "a.txt", " \n")}, want: []string{"a.txt", "blank"}},
		"blank stdin":  {args: []string{"-"}, want: []string{"-: blank"}},
		"NUL in stdin": {stdin: "a\x00b", want: []string{"-:1: byte 1", "NUL"}},
		"jsonl":        {args: []string{writeFile(t, "a.jsonl", "{\"text\":\"a\"}\n{\"txt\":\"b\"}\n")}, want: []string{"a.jsonl:2", "txt"}},
		"oversize":     {args: []string{"--chunk-size", "3000000", writeFile(t, "big.txt", strings.Repeat("Ada met Charles. ", 120_000))}, want: []string{"big.txt: byte 0", "max_payload"}},
		"two for one":  {args: []string{"--document", "d", good, writeFile(t, "b.txt", "Another.")}, want: []string{"document"}},
		"chunk size":   {args: []string{"--chunk-size", "0", good}, want: []string{"--chunk-size"}},
		"chunk tokens": {args: []string{"--chunk-tokens", "15", good}, want: []string{"--chunk-tokens"}},
		"overlap":      {args: []string{"--chunk-overlap", "3000", good}, want: []string{"--chunk-overlap"}},
		"timeout":      {args: []string{"--timeout", "1s", good}, want: []string{"--wait"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			done := command{
				program: "publisher", args: append([]string{"publish", "--tenant", "acme"}, c.args...),
				stdin: c.stdin, env: []string{"NATS_URL=" + url},
			}.run(t)
			require.Equal(t, 2, done.code, done)
			require.Empty(t, done.out)
			for _, want := range c.want {
				require.Contains(t, done.errOut, want)
			}
		})
	}
	require.Zero(t, connect(t, url).messages("WEIR_CHUNKS"))
}

func TestDryRunNeedsNoServer(t *testing.T) {
	t.Parallel()
	done := publisher(t, "nats://127.0.0.1:1", "publish", "--tenant", "a", "--dry-run", "--document", "d", writeFile(t, "a.txt", strings.Repeat("Ada met Charles. ", 500)))
	require.Equal(t, 0, done.code, done)
	require.Equal(t, "d\t3\t", done.out[:4])
}

func TestAServerThatDoesNotAnswerIsNoticedSoon(t *testing.T) {
	t.Parallel()
	// Nobody listens on the first; the second accepts and says nothing.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	for _, address := range []string{"127.0.0.1:1", silent.Addr().String()} {
		for _, cmd := range []command{
			{program: "worker", args: []string{"run", "--provider", "offline", "--listen", ""}},
			{program: "publisher", args: []string{"status", "--tenant", "a"}},
		} {
			cmd.env = []string{"NATS_URL=nats://user:hunter2@" + address}
			done := cmd.run(t)
			require.Equal(t, 1, done.code, done)
			require.Contains(t, done.errOut, address)
			require.NotContains(t, done.errOut, "hunter2")
			require.Less(t, done.took, soon)
		}
	}
}

func TestHelpNamesEveryFlagOfTheContract(t *testing.T) {
	t.Parallel()
	flags := map[string][]string{
		"worker run": {"nats-url", "nats-creds", "nats-nkey", "tls-ca", "tls-cert", "tls-key", "embedded", "store-dir", "namespace", "cache",
			"provider", "openai-base-url", "openai-api-key", "model", "max-tokens", "gleaning", "carry-over", "stream", "stream-idle-timeout", "attempt-timeout", "openai-header", "openai-body", "openai-ca", "rpm", "window", "tpm", "max-retries", "initial-delay",
			"multiplier", "max-delay", "jitter", "failure-threshold", "recovery-timeout", "half-open-max-calls", "circuit", "max-attempts",
			"concurrency", "queue-capacity", "chunk-deadline", "ack-wait", "drain-timeout", "chunk-size", "chunk-overlap", "chunk-tokens", "listen", "log-format", "log-level", "config",
			"domain-file", "strict-types", "classify", "classify-timeout", "classify-confidence"},
		"worker domains show":   {"domain-file", "config"},
		"worker domains choose": {"domain-file", "classify-confidence", "json"},
		"worker check":          {"json", "cache", "provider", "rpm", "max-retries", "chunk-deadline", "nats-url", "namespace", "log-level", "config"},
		"worker circuit open":   {"reason", "json", "nats-url", "namespace", "config"},
		"worker limits set":     {"rpm", "window", "tpm", "json", "nats-url", "config"},
		"worker dead replay":    {"dry-run", "tenant", "kind", "older-than", "newer-than", "json", "nats-url"},
		"worker try":            {"format", "output", "timeout", "provider", "rpm", "chunk-size", "chunk-tokens"},
		"publisher publish":     {"tenant", "document", "run", "chunk-size", "chunk-overlap", "chunk-tokens", "wait", "timeout", "dry-run", "json", "nats-url", "config"},
		"publisher status":      {"tenant", "json", "price-in", "price-out", "nats-url"},
		"publisher diff":        {"tenant", "from", "to", "json", "nats-url", "config"},
		"publisher graph":       {"tenant", "run", "format", "output", "nats-url"},
	}
	for line, names := range flags {
		words := strings.Fields(line)
		done := command{program: words[0], args: append(words[1:], "--help"), env: []string{"OPENAI_API_KEY=sk-hunter2hunter2", "NATS_URL=nats://u:hunter2@h"}}.run(t)
		require.Equal(t, 0, done.code, done)
		require.Empty(t, done.errOut)
		require.NotContains(t, done.out, "hunter2")
		for _, name := range names {
			require.Regexp(t, `(?m)^ +--`+name+`(=| |$)`, done.out, line)
			require.Contains(t, done.out, "$WEIR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		}
	}
	overview := command{program: "worker", args: []string{"--help"}}.run(t)
	for _, want := range []string{"worker try", "worker run", "Exit codes"} {
		require.Contains(t, overview.out, want)
	}
	for _, program := range []string{"worker", "publisher"} {
		version := command{program: program, args: []string{"version"}}.run(t)
		require.Equal(t, 0, version.code)
		require.Contains(t, version.out, "go1.")
		require.Contains(t, version.out, "github.com/weirkeeper/weirkeeper")
	}
}

func TestWrongSettingsEndWithTwo(t *testing.T) {
	t.Parallel()
	url := "NATS_URL=nats://127.0.0.1:1"
	openai := "OPENAI_BASE_URL=http://127.0.0.1:1/v1"
	for want, c := range map[string]command{
		"--rpm is required":        {args: []string{"run"}, env: []string{openai}},
		"at least 1":               {args: []string{"run", "--rpm", "0"}},
		"--rpm":                    {args: []string{"--rpm", "-3"}},
		"--window":                 {args: []string{"run", "--window", "0s"}},
		"--tpm":                    {args: []string{"run", "--tpm", "0"}},
		"--jitter":                 {args: []string{"run", "--jitter", "2"}},
		"--multiplier":             {args: []string{"run", "--multiplier", "0.5"}},
		"--failure-threshold":      {args: []string{"run", "--failure-threshold", "0"}},
		"--recovery-timeout":       {args: []string{"run", "--recovery-timeout", "-1s"}},
		"--half-open-max-calls":    {args: []string{"run", "--half-open-max-calls", "0"}},
		"--max-attempts":           {args: []string{"run", "--max-attempts", "0"}},
		"--concurrency":            {args: []string{"run", "--concurrency", "0"}},
		"--queue-capacity":         {args: []string{"run", "--queue-capacity", "0"}},
		"--max-tokens":             {args: []string{"run", "--rpm", "1", "--max-tokens", "0"}, env: []string{openai}},
		"--attempt-timeout":        {args: []string{"run", "--rpm", "1", "--attempt-timeout", "5m"}, env: []string{openai}},
		"--openai-ca":              {args: []string{"run", "--rpm", "1", "--openai-ca", "/nowhere"}, env: []string{openai}},
		"want NAME: VALUE":         {args: []string{"run", "--rpm", "1", "--openai-header", "nonsense"}, env: []string{openai}},
		"want one JSON object":     {args: []string{"run", "--rpm", "1"}, env: []string{openai, "WEIR_OPENAI_BODY=[]"}},
		"--stream-idle-timeout":    {args: []string{"run", "--rpm", "1", "--stream-idle-timeout", "5s"}, env: []string{openai}},
		"--classify-timeout":       {args: []string{"run", "--classify-timeout", "0s"}},
		"--classify-confidence":    {args: []string{"run", "--classify-confidence", "1.5"}},
		"offline provider cannot":  {args: []string{"run", "--classify", "model"}},
		"--openai-base-url":        {args: []string{"run", "--rpm", "1", "--openai-base-url", "ftp://x"}},
		"--namespace":              {args: []string{"run", "--namespace", "a.b"}},
		"--nats-creds":             {args: []string{"run", "--nats-creds", "/nowhere"}},
		"--tls-cert":               {args: []string{"run", "--tls-cert", "/nowhere"}},
		"unknown flag --rmp":       {args: []string{"run", "--rmp", "3"}},
		"circuit must have a name": {args: []string{"circuit", "show", ""}},
		"at least one of --rpm":    {args: []string{"limits", "set", "acme"}},
		"tenant must have a name":  {args: []string{"limits", "set", "", "--rpm", "1"}},
		"whole milliseconds":       {args: []string{"limits", "set", "acme", "--window", "1us"}},
		"tpm is 0":                 {args: []string{"limits", "set", "acme", "--tpm", "0"}},
		"no such kind":             {args: []string{"dead", "replay", "--kind", "nonsense"}},
		"numbers of letters or":    {args: []string{"dead", "replay", "7", "--kind", "refused"}},
		"--older-than":             {args: []string{"dead", "list", "--older-than", "-1s"}},
		"--store-dir":              {args: []string{"run", "--store-dir", "x"}},
		"--listen":                 {args: []string{"run", "--listen", "nonsense"}},
		`unknown key "queue"`:      {args: []string{"run", "--config", writeFile(t, "weir.yaml", "queue: 3\n")}},
		"(from $WEIR_MAX_RETRIES":  {args: []string{"run"}, env: []string{"WEIR_MAX_RETRIES=many"}},
	} {
		c.program, c.env = "worker", append(c.env, url)
		done := c.run(t)
		require.Equal(t, 2, done.code, "%s: %v", want, done)
		require.Contains(t, done.errOut, want)
		require.Empty(t, done.out)
	}
	tenant := publisher(t, url, "status")
	require.Equal(t, 2, tenant.code)
	require.Contains(t, tenant.errOut, "--tenant")
}
