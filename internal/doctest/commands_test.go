package doctest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// programs begin a command, wherever it stands.
var programs = []string{
	"worker", "publisher", "nats", "nats-server", "practice-model", "go", "make", "git", "curl", "kubectl", "helm", "docker", "systemctl", "systemd-analyze", "journalctl",
	"ssh", "apt-get", "promtool", "mandoc", "goreleaser", "cypher-shell", "openssl", "buildah",
}

var (
	assignment  = regexp.MustCompile(`^[A-Z_]+=`)
	separator   = regexp.MustCompile(`(?m) \|\|?( |$)| &&?( |$)|;|[$<]\(|\)|\n|   +`) // three blanks: an explanation follows
	placeholder = regexp.MustCompile(`^\[?[A-Z]+\]?(\.\.\.)?$|^\.\.\.$`)
	keyword     = []string{"until", "while", "if", "then", "do", "else", "!", "timeout", "cd", "bench"}
)

// commandsIn returns the commands of a text, each as its words: what stands before
// the program is left out, and so are redirections.
func commandsIn(text string) (found [][]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, part := range separator.Split(text, -1) {
		if part, _, _ = strings.Cut(part, " # "); strings.HasPrefix(strings.TrimSpace(part), "#") {
			continue
		}
		words := strings.Fields(part)
		for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains(keyword, words[0])) {
			words = words[1:]
		}
		if end := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "<>") }); end >= 0 {
			words = words[:end]
		}
		if len(words) > 0 {
			words[0] = filepath.Base(strings.Trim(words[0], `"'`))
			found = append(found, words)
		}
	}
	return found
}

// isCommand tells a command from a sentence that begins with the name of a program.
func isCommand(words []string, tree map[string]commandTree) bool {
	if len(words) < 2 || !slices.Contains(programs, words[0]) {
		return false
	}
	if commands, ok := tree[words[0]]; ok {
		return strings.HasPrefix(words[1], "-") || commands.has(strings.Split(words[1], "|")[0])
	}
	return true
}

// commandTree is the commands of a program, by their names ("circuit list"), with
// their flags.
type commandTree map[string]map[string]bool

func (c commandTree) has(first string) bool {
	for name := range c {
		if name == first || strings.HasPrefix(name, first+" ") {
			return true
		}
	}
	return first == "help"
}

// alternatives returns the commands that are meant by words such as "list|show".
func alternatives(words []string) [][]string {
	all := [][]string{nil}
	for _, word := range words {
		var next [][]string
		for _, option := range strings.Split(word, "|") {
			for _, before := range all {
				next = append(next, append(slices.Clone(before), option))
			}
		}
		all = next
	}
	return all
}

// check returns what is wrong with a command of this program.
func (c commandTree) check(words []string) (wrong string) {
	for _, words := range alternatives(words[1:]) {
		name, rest := "run", words // "worker" alone is "worker run"
		if !strings.HasPrefix(words[0], "-") {
			name, rest = words[0], words[1:]
			if c[name] == nil && len(rest) > 0 && c[name+" "+rest[0]] != nil {
				name, rest = name+" "+rest[0], rest[1:]
			}
		}
		if name == "help" || words[0] == "--version" || words[0] == "--help" || words[0] == "--some-flag" {
			continue
		}
		flags := c[name]
		if flags == nil && !(c.has(name) && (len(rest) == 0 || placeholder.MatchString(rest[0]))) {
			return "there is no command " + name + " " + strings.Join(rest, " ")
		}
		for _, word := range rest {
			if flag, ok := strings.CutPrefix(strings.Trim(word, "[]"), "--"); ok && flags != nil {
				flag, _, _ = strings.Cut(flag, "=")
				if !flags[flag] && flag != "help" {
					return name + " has no flag --" + flag
				}
			}
		}
	}
	return ""
}

// trees reads the commands from the reference, which a test keeps the same as what
// the programs say of themselves.
func trees(t *testing.T) map[string]commandTree {
	t.Helper()
	found := map[string]commandTree{}
	for _, program := range []string{"worker", "publisher"} {
		tree := commandTree{}
		for _, section := range strings.Split(read(t, "docs/reference/"+program+".md"), "\n## ")[1:] {
			name, text, _ := strings.Cut(section, "\n")
			if name == "Common flags" {
				break
			}
			tree[name] = map[string]bool{}
			for _, flag := range regexp.MustCompile("(?m)(?:^\\| |^\\[Common.*?|, )`--([a-z0-9-]+)").FindAllStringSubmatch(text, -1) {
				tree[name][flag[1]] = true
			}
		}
		require.NotEmpty(t, tree)
		found[program] = tree
	}
	return found
}

// TestCommandsAreOfTheProgram checks every worker and publisher command of the
// documentation, in blocks and in sentences, those in deploy/ and those that the status
// page shows: it exists and has the flags it is given. Those of nats name streams, buckets and subjects that exist.
func TestCommandsAreOfTheProgram(t *testing.T) {
	tree := trees(t)
	require.Contains(t, tree["worker"]["dead replay"], "dry-run")
	require.Contains(t, tree["publisher"]["publish"], "nats-url")
	for _, wrong := range []string{"worker circuit lost", "worker run --rpn 5", "worker dead replay --nonsense", "worker limits show|sat", "publisher graph --wait"} {
		require.NotEmpty(t, tree[strings.Fields(wrong)[0]].check(strings.Fields(wrong)), wrong)
	}
	seen := 0
	check := func(where, text string) {
		for _, words := range commandsIn(text) {
			if !isCommand(words, tree) {
				continue
			}
			seen++
			if commands, ok := tree[words[0]]; ok {
				require.Empty(t, commands.check(words), "%s: %s", where, strings.Join(words, " "))
			}
			if words[0] == "nats" {
				for _, word := range words {
					require.True(t, known(word), "%s: %s: nothing has the name %s", where, strings.Join(words, " "), word)
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
	for _, c := range append(deployed(t), ofThePage(t)...) {
		check(c.where, c.command)
	}
	require.Greater(t, seen, 200)
	require.False(t, known("weir_limit"))
	require.False(t, known("weir.document.acme"))
}

// known tells whether a word that looks like a name on NATS is one.
func known(word string) bool {
	names, err := wire.NewNames("")
	if err != nil || !regexp.MustCompile(`^(WEIR_|KV_|HITS_|LEDGER_|weir[._])`).MatchString(word) {
		return err == nil
	}
	word = strings.TrimPrefix(word, "KV_")
	if kind, ok := strings.CutPrefix(word, "weir."); ok {
		kind, _, _ = strings.Cut(kind, ".")
		return slices.Contains([]string{"chunks", "documents", "results", "dead", "arrived"}, kind)
	}
	return word == "weir_..." || strings.HasPrefix(word, names.ChunkConsumer()+"_") || slices.Contains([]string{
		names.ChunkStream(), names.DocumentStream(), names.ResultStream(), names.DeadStream(), names.DocumentConsumer(), names.CircuitBucket(), names.RateLimitBucket(),
		names.LimitsBucket(), names.PauseBucket(), names.AttemptsBucket(), names.WorkersBucket(), "LEDGER_" + names.RateLimitBucket(),
	}, word)
}

// placed is a command and where it stands.
type placed struct{ where, command string }

// deployed returns the commands that comments of deploy/ and the chart's notes tell
// people to run, and the one that systemd runs.
func deployed(t *testing.T) (found []placed) {
	t.Helper()
	patterns := map[string]string{
		"deploy/Dockerfile":                           `(?m)^#   ((?:.*\\\n#)*.*)$`,
		"deploy/compose.yaml":                         `(?m)^#   (.*)$`,
		"deploy/weirkeeper-worker.service":            `(?m)^ExecStart=(.*)$`,
		"deploy/helm/weirkeeper/templates/NOTES.txt":  `(?m)^ +(kubectl .*)$`,
		"deploy/helm/weirkeeper/files/alerts.yaml":    "`([^`]+)`",
		"deploy/helm/weirkeeper/files/dashboard.json": "`([^`]+)`",
		"deploy/helm/weirkeeper/values.yaml":          "`([^`]+)`",
	}
	for _, file := range slices.Sorted(maps.Keys(patterns)) {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(patterns[file]).FindAllStringSubmatch(string(text), -1) {
			found = append(found, placed{file, strings.Join(strings.Fields(strings.ReplaceAll(m[1], "\\\n#", " ")), " ")})
		}
	}
	require.NotEmpty(t, found)
	return found
}

// ofThePage returns the commands that the status page shows, to be copied.
func ofThePage(t *testing.T) (found []placed) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(root, "internal/statuspage/page/*.js"))
	require.NoError(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("code\\(`([^`]+)`\\)").FindAllStringSubmatch(string(text), -1) {
			found = append(found, placed{script, regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(m[1], "NAME")})
		}
	}
	require.NotEmpty(t, found)
	return found
}
