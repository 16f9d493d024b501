package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is in a configuration file, reading it gives values of known keys or
// an error that names the file and quotes no value: a value may be a secret.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", "rpm: 60", "rpm: [1]", "a: b: c", "rpm: &x 1\nkey: *x", "? {a: b}\n: c", "---\n---\n", "rpm: !!binary aGk=", "\xff", "'", "rpm: 1\nrpm: 2"} {
		f.Add(seed)
	}
	known := map[string]bool{"rpm": true, "key": true}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseConfig("weir.yaml", []byte(text), known)
		if err != nil {
			require.ErrorContains(t, err, "weir.yaml")
			return
		}
		for key := range file.entries {
			require.True(t, known[key])
		}
	})
}

func TestErrorsOfTheFileQuoteNoValue(t *testing.T) {
	known := map[string]bool{"key": true}
	for _, text := range []string{"key: 'hunter2", "key: [hunter2]", "key: {a: hunter2}", "key: hunter2\nkey: hunter2", "key: hunter2: b", "hunter2"} {
		_, err := parseConfig("weir.yaml", []byte(text), known)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hunter2", text)
	}
}
