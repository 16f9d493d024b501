package check

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// TestDocumentedInstallation renders the chart with what the documentation's helm
// commands set.
func TestDocumentedInstallation(t *testing.T) {
	seen := 0
	for _, page := range []string{"../README.md", "../../docs/status-page.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, command := range regexp.MustCompile(`(?m)^helm .*$`).FindAllString(string(text), -1) {
			values := map[string]any{}
			for _, set := range regexp.MustCompile(`--set (\S+)`).FindAllStringSubmatch(command, -1) {
				seen++
				require.NoError(t, strvals.ParseInto(set[1], values))
			}
			given, err := yaml.Marshal(values)
			require.NoError(t, err)
			rendered, err := render(t, string(given))
			require.NoError(t, err, command)
			require.Contains(t, strings.Join(strings.Fields(rendered["weirkeeper/templates/deployment.yaml"]), " "), "secretRef: {name: weirkeeper}", command)
		}
	}
	require.NotZero(t, seen)
}
