package check

import (
	"fmt"
	"go/version"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/stretchr/testify/require"
)

// stages reads the Dockerfile as `docker build` does, and returns its build stage, the
// stage of the image, and the defaults of the arguments before both.
func stages(t *testing.T) (build, image instructions.Stage, defaults map[string]string) {
	t.Helper()
	file, err := os.Open("../Dockerfile")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	parsed, err := parser.Parse(file)
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)
	all, arguments, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{
		Warn: func(rule, _, _, message string, _ []parser.Range) { t.Errorf("%s: %s", rule, message) },
	}))
	require.NoError(t, err)
	require.Len(t, all, 2)
	defaults = map[string]string{}
	for _, command := range arguments {
		for _, argument := range command.Args {
			defaults["${"+argument.Key+"}"] = argument.ValueString()
		}
	}
	return all[0], all[1], defaults
}

// all returns the commands of one kind of a stage.
func all[C instructions.Command](stage instructions.Stage) (found []C) {
	for _, command := range stage.Commands {
		if c, ok := command.(C); ok {
			found = append(found, c)
		}
	}
	return found
}

// TestDockerfile checks what can be known of the image before it is built: that what is
// copied is there, that the image holds what the build stage has built and starts it, and
// that nobody runs it as root. deploy/check/image builds it.
func TestDockerfile(t *testing.T) {
	build, image, defaults := stages(t)

	golang := regexp.MustCompile(`^golang:(\d+\.\d+\.\d+)-`).FindStringSubmatch(defaults[build.BaseName])
	require.NotNil(t, golang, "the Go of %q is pinned", defaults[build.BaseName])
	module, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	wanted := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(string(module))
	require.NotNil(t, wanted)
	require.GreaterOrEqual(t, version.Compare("go"+golang[1], "go"+wanted[1]), 0, "go.mod wants a newer Go than the image is built with")
	require.Contains(t, defaults[image.BaseName], "nonroot")

	for _, c := range all[*instructions.CopyCommand](build) {
		require.Empty(t, c.From)
		for _, source := range c.SourcePaths {
			_, err := os.Stat(filepath.Join("../..", source))
			require.NoError(t, err)
		}
	}
	runs := all[*instructions.RunCommand](build)
	command := strings.Fields(runs[len(runs)-1].CmdLine[0])
	out := command[slices.Index(command, "-o")+1]
	var built []string
	for _, word := range command {
		if strings.HasPrefix(word, "./cmd/") {
			_, err := os.Stat(filepath.Join("../..", word, "main.go"))
			require.NoError(t, err)
			built = append(built, out+path.Base(word))
		}
	}
	copies := all[*instructions.CopyCommand](image)
	require.Len(t, copies, 1)
	require.Equal(t, build.Name, copies[0].From)
	require.Equal(t, built, copies[0].SourcePaths)

	require.Empty(t, all[*instructions.RunCommand](image), "the base has no shell")
	require.Equal(t, []string{copies[0].DestPath + "worker"}, all[*instructions.EntrypointCommand](image)[0].CmdLine)
	require.False(t, all[*instructions.EntrypointCommand](image)[0].PrependShell, "the worker itself gets the signal to stop")
	require.Equal(t, []string{"run"}, all[*instructions.CmdCommand](image)[0].CmdLine)
	require.Equal(t, "SIGTERM", all[*instructions.StopSignalCommand](image)[0].Signal)
	pod := deployment(t, "{}").Spec.Template.Spec
	require.Equal(t, fmt.Sprintf("%d:%d", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup), all[*instructions.UserCommand](image)[0].User)
	require.Equal(t, []string{fmt.Sprint(pod.Containers[0].Ports[0].ContainerPort)}, all[*instructions.ExposeCommand](image)[0].Ports)
}
