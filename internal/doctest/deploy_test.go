package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDockerfileBuildCommand checks the build command of the image without a
// container: its flags and packages, and that they need no C.
func TestDockerfileBuildCommand(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "deploy/Dockerfile"))
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build) (.*)$`).FindStringSubmatch(string(text))
	require.NotNil(t, m, "the image has another build command")
	dry := exec.Command("bash", "-c", m[1]+" -n "+m[2])
	dry.Dir = root
	output, err := dry.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "/out/")
}

// TestReleasesAreBuiltLikeTheImage checks that the flags which make builds the same
// everywhere are the same in all of them.
func TestReleasesAreBuiltLikeTheImage(t *testing.T) {
	require.Contains(t, read(t, ".goreleaser.yaml"), "[-trimpath]\n    ldflags: [\"-s -w -buildid=\"]")
	for _, file := range []string{"deploy/Dockerfile", "deploy/release-snapshot"} {
		require.Regexp(t, `go build -trimpath .*-ldflags "-s -w -buildid="`, read(t, file), file)
	}
}
