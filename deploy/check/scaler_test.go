package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// query is what KEDA asks Prometheus for, and how much of it is meant for one worker.
func query(t *testing.T, values string) (text, threshold string) {
	t.Helper()
	rendered, err := render(t, values)
	require.NoError(t, err)
	var object struct {
		Spec struct {
			Triggers []struct {
				Metadata struct{ Query, Threshold string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(rendered["weirkeeper/templates/scaledobject.yaml"]), &object))
	require.Len(t, object.Spec.Triggers, 1)
	return object.Spec.Triggers[0].Metadata.Query, object.Spec.Triggers[0].Metadata.Threshold
}

// TestScalerCountsWhatWorkersWouldHelp lets promtool evaluate the query on fleets of two
// workers with eight slots each.
func TestScalerCountsWhatWorkersWouldHelp(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool here")
	}
	text, threshold := query(t, "keda: {enabled: true}")
	require.Equal(t, "6.4", threshold, "0.8 of 8 slots")
	type pod struct{ inHand, ready, waiting, closed int }
	type fleet struct {
		a, b pod
		want int
	}
	both := func(p pod, want int) fleet { return fleet{p, p, want} }
	var tests []any
	for name, f := range map[string]fleet{
		"a million chunks wait for their windows": both(pod{1, 0, 500, 1}, 2),
		"all slots are taken, one tenant waits":   both(pod{8, 1, 0, 1}, 16+1),
		"all slots are taken, thousands wait":     both(pod{8, 5000, 0, 1}, 16+16),
		"the circuit is open":                     both(pod{0, 7, 7, 0}, 0),
		"nothing to do":                           both(pod{0, 0, 0, 1}, 0),
		"one circuit is open, the other has less": {pod{8, 2, 0, 1}, pod{0, 7, 0, 0}, 8 + 2},
		"one circuit is open, all work is there":  {pod{0, 0, 0, 1}, pod{0, 7, 0, 0}, 0},
	} {
		var input []any
		add := func(series, labels string, a, b int) {
			for pod, value := range map[string]int{"a": a, "b": b} {
				input = append(input, map[string]string{
					"series": fmt.Sprintf(`%s{namespace="weirkeeper",pod="weirkeeper-%s"%s}`, series, pod, strings.ReplaceAll(labels, "POD", pod)), "values": fmt.Sprintf("%dx20", value),
				})
			}
			// Another release is another fleet.
			input = append(input, map[string]string{"series": series + `{namespace="other",pod="weirkeeper-c"` + labels + `}`, "values": "99x20"})
		}
		add("weirkeeper_chunks_in_hand", "", f.a.inHand, f.b.inHand)
		add("weirkeeper_concurrency", "", 8, 8)
		add("weirkeeper_tenants_ready", "", f.a.ready, f.b.ready)
		add("weirkeeper_tenants_waiting", "", f.a.waiting, f.b.waiting)
		add("weirkeeper_circuit_state", `,circuit="of-POD",state="closed"`, f.a.closed, f.b.closed)
		tests = append(tests, map[string]any{
			"name": name, "interval": "30s", "input_series": input,
			"promql_expr_test": []any{map[string]any{
				"expr": text, "eval_time": "5m", "exp_samples": []any{map[string]any{"labels": "{}", "value": f.want}},
			}},
		})
	}
	file := filepath.Join(t.TempDir(), "scaler.yaml")
	data, err := yaml.Marshal(map[string]any{"evaluation_interval": "30s", "tests": tests})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	output, err := exec.Command(promtool, "test", "rules", file).CombinedOutput()
	require.NoError(t, err, "%s", output)
}
