package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	metricRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|[^|]*\\|([^|]*)\\|")
	series    = regexp.MustCompile(`\b((?:weirkeeper|gen_ai|messaging|process|go)_[a-z_]+)\b(\{[^}]*\})?`)
	matcher   = regexp.MustCompile(`([a-z_]+)(?:=~|!=|!~|=)`)
	histogram = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// ofProcess are series of the Prometheus client itself that are looked at.
var ofProcess = map[string]bool{"process_resident_memory_bytes": true, "process_cpu_seconds_total": true}

// TestWhatIsLookedAtIsServed holds the dashboard, the alerts, their tests and the scaler
// against the tables of docs/metrics.md, which a test holds against a worker.
func TestWhatIsLookedAtIsServed(t *testing.T) {
	text := read(t, "docs/metrics.md")
	labels := map[string]string{}
	histograms := map[string]bool{}
	for _, m := range metricRow.FindAllStringSubmatch(text, -1) {
		labels[m[1]], histograms[m[1]] = m[3]+" job instance namespace pod le ", m[2] == "histogram"
	}
	require.NotEmpty(t, labels)
	for _, file := range []string{
		"deploy/helm/weirkeeper/files/alerts.yaml", "deploy/helm/weirkeeper/files/dashboard.json",
		"deploy/helm/weirkeeper/templates/scaledobject.yaml", "deploy/prometheus/alerts_test.yaml",
	} {
		seen := 0
		queries := strings.ReplaceAll(read(t, file), `\"`, `"`)
		queries = regexp.MustCompile(`\{\{- \$pods -\}\}`).ReplaceAllString(queries, "")
		for _, m := range series.FindAllStringSubmatch(queries, -1) {
			if ofProcess[m[1]] {
				continue
			}
			seen++
			name := m[1]
			if base := histogram.ReplaceAllString(name, ""); histograms[base] {
				name = base
			}
			require.Contains(t, labels, name, "%s: no worker serves %s", file, m[1])
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				require.Regexp(t, `\b`+l[1]+`\b`, labels[name], "%s: %s has no label %s", file, m[1], l[1])
			}
		}
		require.NotZero(t, seen, file)
	}
}

// TestEveryAlertHasARunbook checks that the link of each alert leads to a section.
func TestEveryAlertHasARunbook(t *testing.T) {
	alerts := regexp.MustCompile(`(?m)- alert: (\w+)$`).FindAllStringSubmatch(read(t, "deploy/helm/weirkeeper/files/alerts.yaml"), -1)
	links := regexp.MustCompile(`(?m)runbook_url: \S+/docs/runbooks\.md#(\w+)$`).FindAllStringSubmatch(read(t, "deploy/helm/weirkeeper/files/alerts.yaml"), -1)
	sections := regexp.MustCompile(`(?m)^## (Weirkeeper\w+)$`).FindAllStringSubmatch(read(t, "docs/runbooks.md"), -1)
	require.NotEmpty(t, alerts)
	require.Len(t, links, len(alerts))
	require.Len(t, sections, len(alerts))
	for i, alert := range alerts {
		require.Equal(t, strings.ToLower(alert[1]), links[i][1])
		require.Equal(t, alert[1], sections[i][1])
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	return string(text)
}
