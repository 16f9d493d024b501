package check

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/weirkeeper"

// render is `helm template weirkeeper --namespace weirkeeper` with values.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(chartDir)
	require.NoError(t, err)
	require.NoError(t, chart.Validate())
	given, err := chartutil.ReadValues([]byte(values))
	require.NoError(t, err)
	release := chartutil.ReleaseOptions{Name: "weirkeeper", Namespace: "weirkeeper", Revision: 1, IsInstall: true}
	// Checks the values against values.schema.json, too.
	all, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

const everything = `
existingSecret: env
secretFiles: {secretName: files, apiKey: key, token: page, natsCreds: creds, tlsCA: ca, tlsCert: crt, tlsKey: pem}
preStopSleepSeconds: 5
networkPolicy: {enabled: true, scrapeFrom: [{podSelector: {matchLabels: {app: prometheus}}}]}
podMonitor: {enabled: true, labels: {release: p}}
prometheusRule: {enabled: true, labels: {release: p}}
dashboard: {enabled: true}
keda: {enabled: true}
podAnnotations: {a: b}
podLabels: {c: d}
imagePullSecrets: [{name: pull}]
nodeSelector: {disk: fast}
tolerations: [{key: k, operator: Exists}]
affinity: {podAntiAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
settings: {tpm: 1000000, jitter: 0.25, stream: true, rpm: unlimited}
`

// objects decodes what was rendered into Kubernetes' types, which take no field that they do
// not have. Objects of custom resources, whose types are not here, are returned undecoded.
func objects(t *testing.T, rendered map[string]string) (known []any, custom []map[string]any) {
	t.Helper()
	for name, text := range rendered {
		if strings.HasSuffix(name, "NOTES.txt") || strings.TrimSpace(text) == "" {
			continue
		}
		var meta metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(text), &meta), name)
		var object any
		switch meta.APIVersion + " " + meta.Kind {
		case "apps/v1 Deployment":
			object = &appsv1.Deployment{}
		case "v1 ServiceAccount":
			object = &corev1.ServiceAccount{}
		case "v1 ConfigMap":
			object = &corev1.ConfigMap{}
		case "policy/v1 PodDisruptionBudget":
			object = &policyv1.PodDisruptionBudget{}
		case "networking.k8s.io/v1 NetworkPolicy":
			object = &networkingv1.NetworkPolicy{}
		case "monitoring.coreos.com/v1 PodMonitor", "monitoring.coreos.com/v1 PrometheusRule", "keda.sh/v1alpha1 ScaledObject":
			other := map[string]any{}
			require.NoError(t, yaml.UnmarshalStrict([]byte(text), &other), name)
			custom = append(custom, other)
			continue
		default:
			require.Fail(t, "an object of another kind", "%s: %+v", name, meta)
		}
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), object), "%s\n%s", name, text)
		known = append(known, object)
	}
	return known, custom
}

func deployment(t *testing.T, values string) *appsv1.Deployment {
	t.Helper()
	rendered, err := render(t, values)
	require.NoError(t, err)
	known, _ := objects(t, rendered)
	i := slices.IndexFunc(known, func(o any) bool { _, ok := o.(*appsv1.Deployment); return ok })
	require.GreaterOrEqual(t, i, 0)
	return known[i].(*appsv1.Deployment)
}

func TestChartWithEverything(t *testing.T) {
	rendered, err := render(t, everything)
	require.NoError(t, err)
	known, custom := objects(t, rendered)
	require.Len(t, known, 5)
	require.Len(t, custom, 3)

	d := deployment(t, everything)
	require.Nil(t, d.Spec.Replicas, "KEDA's business")
	pod := d.Spec.Template.Spec
	require.EqualValues(t, 30+5+15, *pod.TerminationGracePeriodSeconds)
	worker := pod.Containers[0]
	require.EqualValues(t, 5, worker.Lifecycle.PreStop.Sleep.Seconds)
	env := map[string]string{}
	for _, v := range worker.Env {
		env[v.Name] = v.Value
	}
	require.Equal(t, "1000000", env["WEIR_TPM"])
	require.Equal(t, "0.25", env["WEIR_JITTER"])
	require.Equal(t, "true", env["WEIR_STREAM"])
	require.Equal(t, "unlimited", env["WEIR_RPM"])
	require.Equal(t, "/etc/weirkeeper/secrets/key", env["OPENAI_API_KEY_FILE"])
	require.Equal(t, "/etc/weirkeeper/secrets/page", env["WEIR_TOKEN_FILE"])
	require.Equal(t, "1", env["WEIR_REPLICAS"])
	require.Equal(t, "/etc/weirkeeper/secrets/creds", env["NATS_CREDS"])
	require.Equal(t, "env", worker.EnvFrom[0].SecretRef.Name)
}

func TestChartStopsAndProbesAsWorkersWant(t *testing.T) {
	d := deployment(t, "drainTimeoutSeconds: 120")
	pod := d.Spec.Template.Spec
	worker := pod.Containers[0]
	require.EqualValues(t, 2, *d.Spec.Replicas)
	require.Greater(t, *pod.TerminationGracePeriodSeconds, int64(120))
	require.Contains(t, worker.Env, corev1.EnvVar{Name: "WEIR_DRAIN_TIMEOUT", Value: "120s"})
	require.Contains(t, worker.Env, corev1.EnvVar{Name: "WEIR_LISTEN", Value: "0.0.0.0:9464"})
	require.Equal(t, "/healthz", worker.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "/readyz", worker.ReadinessProbe.HTTPGet.Path)
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.True(t, *worker.SecurityContext.ReadOnlyRootFilesystem)
	require.False(t, *worker.SecurityContext.AllowPrivilegeEscalation)
	require.Equal(t, []corev1.Capability{"ALL"}, worker.SecurityContext.Capabilities.Drop)
	require.NotEmpty(t, worker.Resources.Requests)
	require.Equal(t, d.Spec.Selector.MatchLabels, d.Spec.Template.Labels, "else the pods are nobody's")
}

// A worker reaches the collector that it was given, and nothing else is opened for it.
func TestNetworkPolicyLetsTelemetryOut(t *testing.T) {
	for endpoint, port := range map[string]int{"http://collector:4318": 4318, "https://otlp.example/v1": 443, "http://otlp.example": 80, "http://[fd00::1]:4317": 4317, "": 0} {
		want := []int{4222, 8000}
		settings := ""
		if port > 0 {
			want = append(want, port)
			settings = "otlp-endpoint: '" + endpoint + "'"
		}
		rendered, err := render(t, "settings: {"+settings+"}\nnetworkPolicy: {enabled: true, modelPorts: [8000], collectorPorts: [4319]}")
		require.NoError(t, err)
		known, _ := objects(t, rendered)
		i := slices.IndexFunc(known, func(o any) bool { _, ok := o.(*networkingv1.NetworkPolicy); return ok })
		require.GreaterOrEqual(t, i, 0)
		var got []int
		for _, p := range known[i].(*networkingv1.NetworkPolicy).Spec.Egress[1].Ports {
			got = append(got, p.Port.IntValue())
		}
		require.Equal(t, append(want, 4319), got, endpoint)
	}
}

func TestChartRefusesWrongValues(t *testing.T) {
	for _, values := range []string{
		"replicas: 3", "replicaCount: many", "image: {pullPolicy: Sometimes}", "drainTimeoutSeconds: 0",
		"settings: {RPM: 60}", "settings: {listen: x}", "settings: {openai-api-key: sk-1}", "settings: {rpm: 0}", "settings: {replicas: 2}",
		"keda: {targetUtilization: 2}", "keda: {prometheusAddress: prometheus}", "secretFiles: {apiKey: a/b}",
	} {
		_, err := render(t, values)
		require.ErrorContains(t, err, "values don't meet the specifications", values)
	}
}

// TestManifests keeps deploy/manifests the same as the chart. UPDATE=1 writes it.
func TestManifests(t *testing.T) {
	rendered, err := render(t, "{}")
	require.NoError(t, err)
	text := "# The chart with its default values, for who has no Helm. `make manifests` writes it.\n"
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range rendered {
			if !yield(name) {
				return
			}
		}
	}) {
		if body := strings.TrimSpace(rendered[name]); body != "" && !strings.HasSuffix(name, "NOTES.txt") {
			text += "---\n" + strings.NewReplacer("app.kubernetes.io/managed-by: Helm\n", "app.kubernetes.io/managed-by: kubectl\n").Replace(body) + "\n"
		}
	}
	const path = "../manifests/weirkeeper.yaml"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(have), "make manifests")
}
