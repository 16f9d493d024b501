package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/stretchr/testify/require"
)

// TestCompose is `docker compose config`: the loader checks against the specification's
// schema, and that everything that is referred to is there.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"nats1", "nats2", "nats3", "worker", "prometheus", "grafana", "model"}, project.ServiceNames())
	for name, service := range project.Services {
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s publishes %s to everybody", name, port.Published)
		}
		for _, volume := range service.Volumes {
			if volume.Type == "bind" {
				_, err := os.Stat(volume.Source)
				require.NoError(t, err, name)
			}
		}
		if service.Build == nil {
			require.Regexp(t, `:v?\d+\.\d+\.\d+`, service.Image, "%s is pinned", name)
		} else {
			_, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile))
			require.NoError(t, err)
		}
	}
	worker := project.Services["worker"]
	require.Equal(t, 2, worker.GetScale())
	drain, err := time.ParseDuration(*worker.Environment["WEIR_DRAIN_TIMEOUT"])
	require.NoError(t, err)
	require.Greater(t, time.Duration(*worker.StopGracePeriod), drain)
	require.True(t, strings.HasSuffix(*worker.Environment["WEIR_LISTEN"], ":9464"))
	require.Equal(t, "3", *worker.Environment["WEIR_REPLICAS"], "as many as there are NATS servers")
	require.Contains(t, worker.Environment, "WEIR_TOKEN", "else nobody sees the page")
	for _, config := range project.Configs {
		_, err := os.Stat(config.File)
		require.NoError(t, err)
	}
}
