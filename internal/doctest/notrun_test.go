package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reasons say why a command that stands in a sentence, or in a comment of deploy/, is
// not run by a test, by the words it begins with; the longest beginning counts.
var reasons = map[string]string{
	"kubectl":            "needs a cluster",
	"nats stream rmm":    "takes a message away for good",
	"docker":             "needs a container engine",
	"systemctl":          "needs a service of systemd",
	"ssh":                "needs another machine",
	"apt-get":            "changes the machine",
	"cypher-shell":       "needs Neo4j",
	"nats server report": "needs an account of the NATS server's operator",
	"make bench":         "takes minutes and a machine of its own",
	"make fleet":         "takes minutes",
	"go test ./internal/e2e -count=1 -v -run DeepBacklog -deep 1000000": "takes minutes; the tests run it with 5,000",
	"make chaos":                             "takes minutes; the gate runs it with -short",
	"make idle":                              "takes minutes",
	"make eval":                              "takes minutes with data that is not here",
	"make ci":                                "is the gate itself",
	"make deploy-check":                      "takes a quarter of an hour",
	"go run ./stack":                         "takes minutes and a machine of its own",
	"go run ./admission":                     "takes minutes and a machine of its own",
	"go run ./fleet":                         "takes minutes and a machine of its own",
	"go run ./scale":                         "takes minutes",
	"go run ./internal/chaos":                "takes minutes; the gate runs it with -short",
	"publisher publish --tenant real FOLDER": "needs data that is not here",
	"go run ./extraction/offline/train":      "needs data that is not here",
	"make man":                               "is make build and what stands beside it",
	"make reference":                         "writes files of the repository; a test holds them against the programs",
	"go test -bench":                         "measures, on a machine of its own",
	"go test -run '^$'":                      "measures, on a machine of its own",
}

// reasonFor returns why nobody runs a command, or "", and which reason that is.
func reasonFor(words []string) (why, beginning string) {
	for b := range reasons {
		if strings.HasPrefix(strings.Join(words, " ")+" ", b+" ") && len(b) > len(beginning) {
			beginning = b
		}
	}
	return reasons[beginning], beginning
}

// TestEveryBlockSaysWhatItIs keeps commands out of blocks that nobody runs: a block is
// sh, or its label says that it is none, and then no line of it begins like a command.
func TestEveryBlockSaysWhatItIs(t *testing.T) {
	tree := trees(t)
	for _, doc := range documents(t) {
		text := read(t, doc)
		if doc == "docs/reference/worker.md" || doc == "docs/reference/publisher.md" {
			continue // what the programs say of themselves; its examples are held against them
		}
		found, _ := blocks(text)
		for _, b := range found {
			where := at(doc, b.line)
			switch b.label {
			case "sh":
				require.NotEmpty(t, strings.TrimSpace(b.text), where)
			case "bash": // what the gate reads from the README
				require.Contains(t, text, "<!-- test command -->\n```bash\n"+b.text, where)
			case "text", "conf":
				require.Empty(t, b.reason, where)
				for _, line := range strings.Split(b.text, "\n") {
					if drawn := strings.ContainsAny(line, "─│"); drawn {
						continue
					}
					for _, words := range commandsIn(line) {
						require.False(t, isCommand(words, tree), "%s: %q looks like a command: put it into a block with the label sh", where, line)
					}
				}
			default:
				require.Fail(t, "a block says what it is: sh, sh not-run: REASON, text or conf", "%s: %q", where, b.label)
			}
		}
	}
}

// ran returns every command of blocks that are run, and of the scripts of the gate.
func ran(t *testing.T) (found [][]string) {
	t.Helper()
	for _, doc := range documents(t) {
		found = append(found, commandsIn(script(read(t, doc)))...)
	}
	require.NotEmpty(t, found)
	for _, file := range []string{".ci/run", "deploy/check/gate"} {
		found = append(found, commandsIn(read(t, file))...)
	}
	return append(found, strings.Fields(regexp.MustCompile("(?s)<!-- test command -->\n```bash\n(.*?)\n").FindStringSubmatch(read(t, "README.md"))[1]))
}

// covered tells whether every alternative of a command stands within one that is run.
func covered(words []string, run [][]string) bool {
	for _, meant := range alternatives(words) {
		if !slices.ContainsFunc(run, func(one []string) bool { return within(meant, one) }) {
			return false
		}
	}
	return true
}

// within tells whether the words of a command, but for placeholders, stand in one that
// is run, in the same order.
func within(words, run []string) bool {
	if words[0] != run[0] {
		return false
	}
	for _, word := range words {
		if placeholder.MatchString(word) || word == "--help" || word == "--version" {
			continue
		}
		i := slices.Index(run, word)
		if i < 0 {
			return false
		}
		run = run[i+1:]
	}
	return true
}

// TestEverySubcommandRuns: the documentation shows each command of both programs in a
// block that is run.
func TestEverySubcommandRuns(t *testing.T) {
	run := ran(t)
	for program, tree := range trees(t) {
		for name := range tree {
			words := append([]string{program}, strings.Fields(name)...)
			if name == "Environment" {
				continue
			}
			if !covered(words, run) {
				t.Errorf("no block runs %s %s", program, name)
			}
		}
	}
}

const notRunPage = "docs/reference/not-run.md"

// TestNotRunIsListed keeps the page of all commands that no test runs, with the reason
// of each. A command in a sentence that is neither run elsewhere nor has a reason fails.
func TestNotRunIsListed(t *testing.T) {
	tree, run, used := trees(t), ran(t), map[string]bool{}
	page := "# Commands that no test runs\n\nEvery other command of the documentation runs with the tests, or in the gate. " +
		"Made by `WEIR_UPDATE_DOCS=1 go test ./internal/doctest -run NotRun`; do not edit.\n\n| where | command | why not |\n|---|---|---|\n"
	row := func(doc, command, why string) {
		line := fmt.Sprintf("| %s | `%s` | %s |\n", doc, strings.ReplaceAll(command, "|", `\|`), why)
		if !strings.Contains(page, line) {
			page += line
		}
	}
	link := func(doc string) string {
		relative, err := filepath.Rel(filepath.Dir(notRunPage), doc)
		require.NoError(t, err)
		return fmt.Sprintf("[%s](%s)", doc, filepath.ToSlash(relative))
	}
	mentioned := func(where, doc string, commands [][]string) {
		for _, words := range commands {
			if !isCommand(words, tree) || covered(words, run) {
				continue
			}
			why, reason := reasonFor(words)
			used[reason] = true
			if why == "" {
				t.Errorf("%s: no block runs %q: let one, or say why not", where, strings.Join(words, " "))
			}
			row(link(doc), strings.Join(words, " "), why)
		}
	}
	for _, doc := range documents(t) {
		if doc == notRunPage || doc == "CHANGELOG.md" { // which tells what there is, not what to do
			continue
		}
		found, spans := blocks(read(t, doc))
		for _, b := range found {
			if b.reason == "" {
				continue
			}
			for _, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(b.text, "\\\n", " ")), "\n") {
				line, _, _ = strings.Cut(line, "  #")
				row(link(doc), strings.Join(strings.Fields(line), " "), b.reason)
			}
		}
		for _, s := range spans {
			mentioned(at(doc, s.line), doc, commandsIn(s.text))
		}
	}
	for _, c := range deployed(t) {
		mentioned(c.where, c.where, commandsIn(c.command)[:1]) // and not what it asks another one
	}
	for beginning := range reasons {
		if !used[beginning] {
			t.Errorf("nothing begins with %q that is not run", beginning)
		}
	}
	if os.Getenv("WEIR_UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, notRunPage), []byte(page), 0o644))
		return
	}
	require.Equal(t, page, read(t, notRunPage), "run WEIR_UPDATE_DOCS=1 go test ./internal/doctest -run NotRun")
}

// TestTargetsAndPackagesExist checks what make and go are told to run or test.
func TestTargetsAndPackagesExist(t *testing.T) {
	makefile, tree := read(t, "Makefile"), trees(t)
	check := func(where, text string) {
		for _, words := range commandsIn(text) {
			if !isCommand(words, tree) {
				continue
			}
			for _, word := range words[1:] {
				switch {
				case words[0] == "make" && !strings.Contains(word, "=") && !strings.HasPrefix(word, "-"):
					require.Contains(t, makefile, "\n"+word+":", "%s: make %s", where, word)
				case words[0] == "go" && strings.HasPrefix(word, "./") && !strings.Contains(word, "..."):
					_, here := os.Stat(filepath.Join(root, word))
					_, inBench := os.Stat(filepath.Join(root, "bench", word))
					require.True(t, here == nil || inBench == nil, "%s: there is no %s", where, word)
				}
			}
		}
	}
	for _, doc := range documents(t) {
		found, spans := blocks(read(t, doc))
		for _, b := range found {
			check(at(doc, b.line), b.text)
		}
		for _, s := range spans {
			check(at(doc, s.line), s.text)
		}
	}
}

func at(doc string, line int) string { return fmt.Sprintf("%s:%d", doc, line) }
