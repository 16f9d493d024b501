package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// grammar is a small program with one flag of every sort.
type grammar struct {
	Go    goCommand    `cmd:"" default:"withargs" help:"Go."`
	Other otherCommand `cmd:"" help:"Something else."`
}

type goCommand struct {
	cli.ConfigFile
	cli.LogFlags
	Key    cli.Secret    `known:"WELL_KNOWN_KEY" help:"Key."`
	Count  int           `default:"7" help:"Count."`
	Wait   time.Duration `default:"1s" help:"Wait."`
	Dry    bool          `help:"Dry."`
	Tenant string        `required:"" help:"Tenant."`
	Fail   string        `help:"How to end."`
	Where  *string       `empty:"nowhere" help:"Where."`
}

type otherCommand struct {
	Only string `help:"Of the other command."`
}

func (otherCommand) Run() error { return nil }

func (c *goCommand) Run(ctx context.Context, streams cli.Streams) error {
	fmt.Fprintf(streams.Out, "count=%d wait=%s dry=%v tenant=%s key=%s level=%s\n",
		c.Count, c.Wait, c.Dry, c.Tenant, c.Key.Reveal(), c.LogLevel)
	err := errors.New("it broke")
	switch c.Fail {
	case "failed":
		return err
	case "usage":
		return cli.Usage(err)
	case "dead":
		return cli.DeadLettered(err)
	case "timeout":
		return fmt.Errorf("wrapped: %w", cli.TimedOut(err))
	case "panic":
		panic("boom")
	}
	return nil
}

type outcome struct {
	code     int
	out, err string
}

func run(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	app := cli.App{
		Name:     "prog",
		LogLevel: "info",
		Streams:  cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
		LookupEnv: func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		},
	}
	code := app.Run(t.Context(), args, &grammar{})
	return outcome{code, out.String(), errs.String()}
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestPrecedenceIsFlagThenEnvironmentThenFileThenDefault(t *testing.T) {
	file := configFile(t, "count: 3\nwait: 3m\ntenant: from-file\nkey: file-key\nlog-level: debug\n")
	env := map[string]string{"WEIR_COUNT": "2", "WEIR_WAIT": "2m", "WEIR_CONFIG": file}

	got := run(t, env, "--count", "1")
	require.Equal(t, outcome{code: cli.ExitDone, out: "count=1 wait=2m0s dry=false tenant=from-file key=file-key level=debug\n"}, got)

	got = run(t, nil, "--config", file, "--dry")
	require.Equal(t, "count=3 wait=3m0s dry=true tenant=from-file key=file-key level=debug\n", got.out)

	got = run(t, nil, "go", "--tenant=a")
	require.Equal(t, "count=7 wait=1s dry=false tenant=a key= level=info\n", got.out)
}

func TestOwnVariableWinsOverTheWellKnownOneAndEmptyIsNotSet(t *testing.T) {
	both := map[string]string{"WEIR_KEY": "own", "WELL_KNOWN_KEY": "known", "WEIR_DRY": "true", "WEIR_COUNT": ""}
	require.Equal(t, "count=7 wait=1s dry=true tenant=a key=own level=info\n", run(t, both, "--tenant=a").out)

	both["WEIR_KEY"] = ""
	require.Contains(t, run(t, both, "--tenant=a").out, "key=known")
}

func TestEmptyVariableCountsWhereEmptyMeansSomething(t *testing.T) {
	var g grammar
	var errOut bytes.Buffer
	app := cli.App{Name: "prog", LogLevel: "info", Streams: cli.Streams{Out: &bytes.Buffer{}, Err: &errOut}}
	for env, want := range map[string]*string{"": new(string), "x": ptr("x")} {
		app.LookupEnv = func(name string) (string, bool) { return env, name == "WEIR_WHERE" }
		require.Equal(t, cli.ExitDone, app.Run(t.Context(), []string{"--tenant=a"}, &g), &errOut)
		require.Equal(t, want, g.Go.Where)
	}
	app.LookupEnv = func(string) (string, bool) { return "", false }
	require.Equal(t, cli.ExitDone, app.Run(t.Context(), []string{"--tenant=a"}, &g), &errOut)
	require.Nil(t, g.Go.Where)
	require.Equal(t, cli.ExitDone, app.Run(t.Context(), []string{"--tenant=a", "--where", ""}, &g))
	require.Equal(t, new(string), g.Go.Where)
}

func ptr(s string) *string { return &s }

func TestRequiredFlagMayComeFromAnywhere(t *testing.T) {
	require.Equal(t, cli.ExitDone, run(t, map[string]string{"WEIR_TENANT": "a"}).code)
	require.Equal(t, cli.ExitDone, run(t, nil, "--config", configFile(t, "tenant: a\n")).code)

	missing := run(t, nil)
	require.Equal(t, cli.ExitUsage, missing.code)
	require.Contains(t, missing.err, "--tenant")
	require.Empty(t, missing.out)
}

func TestConfigurationMistakesNameKeyAndFile(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"unknown key":       {"tenant: a\ntennant: b\n", []string{"weir.yaml:2", `"tennant"`}},
		"underscore":        {"log_level: info\n", []string{"weir.yaml:1", `write "log-level"`}},
		"two unknown keys":  {"x: 1\ny: 2\n", []string{`"x"`, `"y"`}},
		"key twice":         {"tenant: a\ntenant: b\n", []string{"weir.yaml"}},
		"no value":          {"tenant:\n", []string{"weir.yaml:1", `"tenant"`}},
		"list":              {"tenant: [a, b]\n", []string{`"tenant"`, "one plain value"}},
		"not a mapping":     {"- tenant\n", []string{"weir.yaml", "mapping"}},
		"not YAML":          {"tenant: 'a\n", []string{"weir.yaml", "not valid YAML"}},
		"value of the file": {"tenant: a\ncount: many\n", []string{"--count", "weir.yaml:2"}},
		"config in config":  {"config: other.yaml\n", []string{`"config"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, nil, "--config", configFile(t, c.text))
			require.Equal(t, cli.ExitUsage, got.code, got.err)
			require.Empty(t, got.out)
			for _, want := range c.want {
				require.Contains(t, got.err, want)
			}
		})
	}
	missing := run(t, nil, "--config", "/nowhere/weir.yaml")
	require.Equal(t, cli.ExitUsage, missing.code)
	require.Contains(t, missing.err, "prog: configuration file: open /nowhere/weir.yaml")
}

func TestOneFileServesAllCommandsOfAProgram(t *testing.T) {
	got := run(t, nil, "--config", configFile(t, "tenant: a\nonly: b\n"))
	require.Equal(t, cli.ExitDone, got.code, got.err)
}

// A file with a secret that everybody may read is told of, and used; as ssh does not.
func TestExposedFilesWithSecretsAreToldOf(t *testing.T) {
	exposed := func(text string, mode os.FileMode) string {
		path := configFile(t, text)
		require.NoError(t, os.Chmod(path, mode))
		got := run(t, nil, "go", "--tenant", "acme", "--config", path)
		require.Equal(t, 0, got.code, got)
		require.NotContains(t, got.err, "hunter2")
		return strings.ReplaceAll(got.err, path, "FILE")
	}
	require.Equal(t, "prog: warning: every user of this machine may read FILE, which holds --key: chmod o-r FILE\n", exposed("key: hunter2\n", 0o644))
	require.Equal(t, "prog: warning: every user of this machine may read FILE, which holds --only: chmod o-r FILE\n", exposed("only: nats://user:hunter2@host:4222\n", 0o604))
	require.Empty(t, exposed("key: hunter2\n", 0o600))
	require.Empty(t, exposed("key: hunter2\n", 0o640), "a group is somebody's choice")
	require.Empty(t, exposed("count: 3\n", 0o644), "there is no secret in it")
}

func TestWrongValueNamesWhereItCameFrom(t *testing.T) {
	fromEnv := run(t, map[string]string{"WEIR_COUNT": "many"}, "--tenant=a")
	require.Equal(t, cli.ExitUsage, fromEnv.code)
	require.Contains(t, fromEnv.err, "$WEIR_COUNT")

	level := run(t, map[string]string{"WEIR_LOG_LEVEL": "loud", "WEIR_FAIL": "usage"}, "--tenant=a")
	require.Equal(t, cli.ExitUsage, level.code)
	require.Contains(t, level.err, "(from $WEIR_LOG_LEVEL)")

	fromFlag := run(t, nil, "--tenant=a", "--count=many")
	require.Equal(t, cli.ExitUsage, fromFlag.code)
	require.Contains(t, fromFlag.err, "--count")

	require.Equal(t, cli.ExitUsage, run(t, nil, "--tenant=a", "--nonsense").code)
	require.Equal(t, cli.ExitUsage, run(t, nil, "--tenant=a", "--log-level=loud").code)
}

func TestExitCodes(t *testing.T) {
	for fail, want := range map[string]int{"": 0, "failed": 1, "usage": 2, "dead": 3, "timeout": 4, "panic": 1} {
		got := run(t, nil, "--tenant=a", "--fail="+fail)
		require.Equal(t, want, got.code, fail)
		if fail != "" && fail != "panic" {
			require.Contains(t, got.err, "prog: ")
			require.Contains(t, got.err, "it broke")
		}
	}
}

func TestHelpListsEveryVariableAndNoValues(t *testing.T) {
	env := map[string]string{"WEIR_KEY": "hunter2", "WELL_KNOWN_KEY": "hunter3"}
	got := run(t, env, "go", "--help")
	require.Equal(t, cli.ExitDone, got.code)
	require.Empty(t, got.err)
	for _, want := range []string{"--key", "$WEIR_KEY", "$WELL_KNOWN_KEY", "--log-format", "$WEIR_LOG_FORMAT", "--config", "$WEIR_CONFIG"} {
		require.Contains(t, got.out, want)
	}
	require.NotContains(t, got.out, "hunter")
}

func TestSecretIsMaskedWhereverItIsPrinted(t *testing.T) {
	secret := cli.NewSecret("hunter2")
	var log bytes.Buffer
	logger := cli.LogFlags{LogFormat: "json", LogLevel: "debug"}.Logger(&log)
	logger.Info("start", "key", secret, "flags", struct{ Key cli.Secret }{secret})
	cli.LogFlags{LogFormat: "text", LogLevel: "debug"}.Logger(&log).Info("start", "key", secret, "flags", struct{ Key cli.Secret }{secret})
	fmt.Fprintf(&log, "%s %v %+v %#v %v %+v %#v", secret, secret, secret, secret, struct{ Key cli.Secret }{secret}, &struct{ Key *cli.Secret }{&secret}, struct{ Key cli.Secret }{secret})
	require.NotContains(t, log.String(), "hunter2")
	require.Contains(t, log.String(), "[secret]")
	require.Equal(t, "hunter2", secret.Reveal())
	require.Empty(t, cli.Secret{}.String())
}

func TestLogLevelAndFormat(t *testing.T) {
	var log bytes.Buffer
	logger := cli.LogFlags{LogFormat: "json", LogLevel: "warn"}.Logger(&log)
	logger.Info("quiet")
	require.Empty(t, log.String())
	logger.Warn("loud")
	require.True(t, strings.HasPrefix(log.String(), "{"), log.String())
}

// kong would replace the bytes by U+FFFD, and so name another tenant.
func TestWhatIsNotUTF8IsRefused(t *testing.T) {
	for _, got := range []outcome{run(t, nil, "--tenant", "a\xffb"), run(t, nil, "--tenant=a\xffb"), run(t, map[string]string{"WEIR_TENANT": "a\xffb"})} {
		require.Equal(t, cli.ExitUsage, got.code)
		require.Empty(t, got.out)
		require.Contains(t, got.err, "not UTF-8")
	}
}

// Whoever gives a URL in the wrong place still does not find its password in a log.
func TestURLsInErrorsHaveNoUser(t *testing.T) {
	for _, args := range [][]string{{"nats://bob:hunter2@host:4222"}, {"--tenant=a", "--count=nats://hunter2@host:4222"}, {"--nonsense=tls://bob:hunt@er2:hunter2@host"}, {"--tenant=a", "--wait=x://hunter2@host"}} {
		got := run(t, nil, args...)
		require.Equal(t, cli.ExitUsage, got.code)
		require.NotContains(t, got.err, "hunter2")
	}
	got := run(t, nil, "nats://bob:hunter2@host:4222")
	require.Contains(t, got.err, "nats://[secret]@host:4222")
}

// What people try first leads to the list of commands.
func TestTheListOfCommandsIsFound(t *testing.T) {
	run := func(args ...string) (code int, out, errOut string) {
		var o, e bytes.Buffer
		app := cli.App{Name: "weir", LogLevel: "info", Streams: cli.Streams{Out: &o, Err: &e}, LookupEnv: func(string) (string, bool) { return "", false }}
		code = app.Run(t.Context(), args, &grammar{})
		return code, o.String(), e.String()
	}
	code, out, _ := run("help")
	require.Zero(t, code)
	require.Contains(t, out, "Something else.")
	code, out, _ = run("help", "other")
	require.Zero(t, code)
	require.Contains(t, out, "Of the other command")
	code, _, errOut := run("ohter")
	require.Equal(t, cli.ExitUsage, code)
	require.Equal(t, "weir: unexpected argument ohter, did you mean \"other\"?\nRun \"weir --help\" for the list of commands.\n", errOut)
	code, _, errOut = run("nothing-like-it", "--what")
	require.Equal(t, cli.ExitUsage, code)
	require.Equal(t, "weir: unexpected argument nothing-like-it\nRun \"weir --help\" for the list of commands.\n", errOut)
	for _, args := range [][]string{{"other", "--what"}, {"--what"}, {"other", "more"}} {
		_, _, errOut = run(args...)
		require.NotContains(t, errOut, "list of commands", args)
	}
}
