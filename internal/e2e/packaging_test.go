package e2e_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManualPages(t *testing.T) {
	t.Parallel()
	for program, commands := range map[string][]string{
		"worker":    {"run", "try", "check", "circuit list", "dead replay"},
		"publisher": {"publish", "status", "graph", "diff"},
	} {
		page := command{program: program, args: []string{"man"}}.run(t)
		require.Equal(t, 0, page.code, page)
		require.NotContains(t, page.out, "complete\\-words", "hidden commands are nobody's business")
		for _, c := range commands {
			require.Contains(t, page.out, `.SS "`+strings.ReplaceAll(c, "-", `\-`))
			help := command{program: program, args: append(strings.Fields(c), "--help")}.run(t)
			require.Equal(t, 0, help.code, help)
			flags := regexp.MustCompile(`(?m)^\s+--([a-z-]+)`).FindAllStringSubmatch(help.out, -1)
			require.NotEmpty(t, flags, help)
			for _, flag := range flags {
				require.Contains(t, page.out, `\fB`+strings.ReplaceAll("--"+flag[1], "-", `\-`)+`\fR`, "%s %s", program, c)
			}
		}
		lint(t, page.out)
	}
}

// The reference of flags is what the programs say of themselves.
func TestFlagReference(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"worker", "publisher"} {
		said := command{program: program, args: []string{"man", "--markdown"}}.run(t)
		require.Equal(t, 0, said.code, said)
		written, err := os.ReadFile("../../docs/reference/" + program + ".md")
		require.NoError(t, err)
		require.Equal(t, said.out, string(written), "run make reference")
	}
}

// lint asks mandoc, where it is installed, what it thinks of a page.
func lint(t *testing.T, page string) {
	t.Helper()
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Log("not linted: there is no mandoc here")
		return
	}
	run := exec.Command(mandoc, "-Tlint", "-Wwarning")
	run.Stdin = strings.NewReader(page)
	output, _ := run.Output() // its exit code counts the date, too
	for line := range strings.Lines(string(output)) {
		require.Contains(t, line, "missing date", "a page of a reproducible build has none")
	}
}

// TestDeployedSettingsAreSettings holds every setting in deploy/ against the help of the
// command that reads it.
func TestDeployedSettingsAreSettings(t *testing.T) {
	t.Parallel()
	help := command{program: "worker", args: []string{"run", "--help"}}.run(t)
	require.Equal(t, 0, help.code, help)
	known := map[string]bool{}
	for _, name := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(help.out, -1) {
		known[name[1]] = true
	}
	variable := regexp.MustCompile(`\b(?:WEIR|NATS|OPENAI)_[A-Z][A-Z_]*\b`)
	deployed := filepath.Join("..", "..", "deploy")
	seen := 0
	require.NoError(t, filepath.WalkDir(deployed, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" || filepath.Ext(path) == ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range variable.FindAllString(string(text), -1) {
			seen++
			require.Contains(t, known, name, path)
		}
		return err
	}))
	require.NotZero(t, seen)

	values, err := os.ReadFile(filepath.Join(deployed, "helm", "weirkeeper", "values.yaml"))
	require.NoError(t, err)
	_, settings, _ := strings.Cut(string(values), "\nsettings:\n")
	settings, _, _ = strings.Cut(settings, "\n\n")
	flags := regexp.MustCompile(`(?m)^  ([a-z-]+):`).FindAllStringSubmatch(settings, -1)
	require.NotEmpty(t, flags)
	for _, flag := range flags {
		require.Contains(t, help.out, "--"+flag[1], "values.yaml")
	}
}
