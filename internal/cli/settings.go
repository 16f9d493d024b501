package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/secretfile"
)

// ConfigFile is the --config flag that every command carries.
type ConfigFile struct {
	Config string `placeholder:"FILE" help:"YAML file with settings, keys named like the flags. Flags and environment win over it."`
}

// settings answers, for every flag that is not on the command line, with the
// environment and then the configuration file.
type settings struct {
	environ func(string) (string, bool)
	file    *configFile // nil until it is known which file, or none
	loaded  bool
	// origins says, for each flag that is not on the command line, where its
	// value came from, so that an error about it can say so.
	origins map[string]string
	// failed is why the file cannot be used.
	failed error
	// exposed names the secrets of a file that every user of the machine may read.
	exposed []string
}

// Validate does nothing: a wrong key is reported when the file is read.
func (s *settings) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (s *settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" {
		return nil, nil
	}
	for _, name := range envNames(flag) {
		if value, ok := s.environ(name); ok && (value != "" || flag.Tag.Has("empty")) {
			if !utf8.ValidString(value) { // kong would change it without a word
				s.failed = fmt.Errorf("$%s is not UTF-8", name)
				return nil, s.failed
			}
			s.origins[flag.Name] = "$" + name
			return value, nil
		}
	}
	if flag.Name == "config" {
		return nil, nil
	}
	if s.failed = s.load(ctx); s.failed != nil {
		return nil, s.failed
	}
	if entry, ok := s.file.get(flag.Name); ok {
		s.origins[flag.Name] = fmt.Sprintf("%s:%d", s.file.path, entry.line)
		return entry.value, nil
	}
	return nil, nil
}

// load reads the configuration file once.
func (s *settings) load(ctx *kong.Context) error {
	if s.loaded {
		return nil
	}
	s.loaded = true
	path := s.configPath(ctx)
	if path == "" {
		return nil
	}
	file, err := readConfig(path, flagNames(ctx.Model.Node))
	if err != nil {
		return err
	}
	s.file = file
	if secretfile.Exposed(path) {
		s.exposed = secretsIn(file, ctx.Model.Node)
	}
	return nil
}

// secretsIn lists the flags that file sets to something that must not be seen.
func secretsIn(file *configFile, node *kong.Node) (names []string) {
	walkFlags(node, func(flag *kong.Flag) {
		entry, set := file.get(flag.Name)
		if set && !slices.Contains(names, "--"+flag.Name) && (flag.Tag.Has("secret") || flag.Target.Type() == reflect.TypeFor[Secret]() || userInfo.MatchString(entry.value)) {
			names = append(names, "--"+flag.Name)
		}
	})
	return names
}

func (s *settings) configPath(ctx *kong.Context) string {
	for _, step := range ctx.Path {
		if step.Flag != nil && step.Flag.Name == "config" {
			return fmt.Sprint(ctx.FlagValue(step.Flag))
		}
	}
	if path, ok := s.environ("WEIR_CONFIG"); ok {
		return path
	}
	return ""
}

// envNames lists the variables that set flag, the strongest first.
func envNames(flag *kong.Flag) []string {
	names := []string{"WEIR_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}
	if known := flag.Tag.Get("known"); known != "" {
		names = append(names, known)
	}
	return names
}

// flagNames returns the names of all flags of node and the commands below it.
func flagNames(node *kong.Node) map[string]bool {
	names := map[string]bool{}
	walkFlags(node, func(flag *kong.Flag) {
		if flag.Name != "help" && flag.Name != "config" {
			names[flag.Name] = true
		}
	})
	return names
}

func walkFlags(node *kong.Node, visit func(*kong.Flag)) {
	for _, flag := range node.Flags {
		visit(flag)
	}
	for _, child := range node.Children {
		walkFlags(child, visit)
	}
}

// originOf says where the value came from that text, an error of kong, is about;
// "" if it was on the command line.
func (s *settings) originOf(text string) string {
	name, ok := strings.CutPrefix(text, "--")
	if !ok {
		return ""
	}
	end := strings.IndexFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(name)
	}
	return s.origins[name[:end]]
}
