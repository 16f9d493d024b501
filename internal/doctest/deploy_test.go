package doctest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMakeBuildsLikeTheImage: the image's build command is that of make build, which the
// README's commands run; and all documentation runs on the programs that it gives.
func TestMakeBuildsLikeTheImage(t *testing.T) {
	image := regexp.MustCompile(`(?m)^RUN (.* go build .*)$`).FindStringSubmatch(read(t, "deploy/Dockerfile"))
	require.NotNil(t, image)
	here := strings.NewReplacer(" go build ", " $(GO) build ", " /out/ ", " bin/ ").Replace(image[1])
	require.Contains(t, read(t, "Makefile"), "\nbuild: ## ")
	require.Contains(t, read(t, "Makefile"), "\n\t"+here+"\n")
}

// TestReleasesAreBuiltLikeTheImage checks that the flags which make builds the same
// everywhere are the same in all of them.
func TestReleasesAreBuiltLikeTheImage(t *testing.T) {
	require.Contains(t, read(t, ".goreleaser.yaml"), "[-trimpath]\n    ldflags: [\"-s -w -buildid=\"]")
	for _, file := range []string{"deploy/Dockerfile", "deploy/release-snapshot"} {
		require.Regexp(t, `go build -trimpath .*-ldflags "-s -w -buildid="`, read(t, file), file)
	}
}
