package check

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Definitions of others, read from the sources of their modules; nothing of those is
// compiled.
const (
	keda       = "github.com/kedacore/keda/v2@v2.18.0"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
	goreleaser = "github.com/goreleaser/goreleaser/v2@v2.13.3"
)

// source returns a file of a module.
func source(t *testing.T, module, file string) []byte {
	t.Helper()
	download := exec.Command("go", "mod", "download", "-json", module)
	download.Dir = t.TempDir() // not this module
	output, err := download.Output()
	require.NoError(t, err, "%s", output)
	var have struct{ Dir string }
	require.NoError(t, json.Unmarshal(output, &have))
	data, err := os.ReadFile(filepath.Join(have.Dir, filepath.FromSlash(file)))
	require.NoError(t, err)
	return data
}

func validate(t *testing.T, definition any, object any) error {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("definition.json", plain(t, definition)))
	schema, err := compiler.Compile("definition.json")
	require.NoError(t, err)
	return schema.Validate(plain(t, object))
}

// plain is a value as the library reads JSON.
func plain(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return value
}

// strict makes a definition refuse fields that it does not have, as `kubectl apply` does.
func strict(node any) {
	switch n := node.(type) {
	case map[string]any:
		if _, object := n["properties"].(map[string]any); object && n["type"] == "object" && n["additionalProperties"] == nil && n["x-kubernetes-preserve-unknown-fields"] != true {
			n["additionalProperties"] = false
		}
		for _, child := range n {
			strict(child)
		}
	case []any:
		for _, child := range n {
			strict(child)
		}
	}
}

func TestCustomResourcesAreAsDefined(t *testing.T) {
	rendered, err := render(t, everything)
	require.NoError(t, err)
	_, custom := objects(t, rendered)
	files := map[string][2]string{
		"ScaledObject":   {keda, "config/crd/bases/keda.sh_scaledobjects.yaml"},
		"PodMonitor":     {operator, "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"},
		"PrometheusRule": {operator, "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"},
	}
	require.Len(t, custom, len(files))
	for _, object := range custom {
		kind := object["kind"].(string)
		var crd struct {
			Spec struct {
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		require.NoError(t, yaml.Unmarshal(source(t, files[kind][0], files[kind][1]), &crd))
		definition := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		definition["properties"].(map[string]any)["metadata"] = map[string]any{"type": "object"}
		strict(definition)
		require.NoError(t, validate(t, definition, object), kind)

		object["spec"].(map[string]any)["nonsense"] = true
		require.Error(t, validate(t, definition, object), "%s: the definition takes anything", kind)
	}
}

func TestGoreleaserConfiguration(t *testing.T) {
	var definition, config map[string]any
	require.NoError(t, json.Unmarshal(source(t, goreleaser, "www/docs/static/schema.json"), &definition))
	text, err := os.ReadFile("../../.goreleaser.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &config))
	require.NoError(t, validate(t, definition, config))

	config["nonsense"] = true
	require.Error(t, validate(t, definition, config), "the definition takes anything")

	// Files that it packs are there, or made by make man.
	for _, pkg := range config["nfpms"].([]any) {
		for _, content := range pkg.(map[string]any)["contents"].([]any) {
			src := content.(map[string]any)["src"].(string)
			if filepath.Dir(src) == "bin" {
				continue
			}
			_, err := os.Stat(filepath.Join("../..", src))
			require.NoError(t, err)
		}
	}
}
