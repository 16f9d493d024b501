package process

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the path of the module that this package belongs to.
const Module = "github.com/weirkeeper/weirkeeper"

// Root is the folder of the module's go.mod. The working directory has to be
// somewhere below it.
func Root(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", Module)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		return "", &BuildError{told.String(), err}
	}
	return strings.TrimSpace(string(out)), nil
}

// Build builds packages of this module, named from its root as in "./cmd/worker",
// into dir, each under the last element of its path.
func Build(ctx context.Context, dir string, packages ...string) error {
	return build(ctx, dir, nil, packages)
}

// BuildNATSServer builds the nats-server that the documentation is tested with
// into dir.
func BuildNATSServer(ctx context.Context, dir string) error {
	return build(ctx, dir, []string{"-modfile=tools/go.mod"}, []string{"github.com/nats-io/nats-server/v2"})
}

func build(ctx context.Context, dir string, flags, packages []string) error {
	root, err := Root(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return &BuildError{string(out), err}
	}
	return nil
}
