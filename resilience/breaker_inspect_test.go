package resilience_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestStoredCircuitsAreFoundByTheirKeys(t *testing.T) {
	keys := []string{
		"default.state", "default.failures", "default.probe.0", "default.probe.2",
		"a.b.reason", "failing.failures", "probe.probe.1",
		// Not of a circuit.
		"state", ".state", "default", "default.colour", "default.probe.x", "default.probe.100", ".probe.1", "probe.1", "",
	}
	require.Equal(t, []resilience.StoredCircuit{
		{Name: "a.b", Probes: 1}, {Name: "default", Probes: 3}, {Name: "failing", Probes: 1}, {Name: "probe", Probes: 2},
	}, resilience.StoredCircuits("", keys))
	require.Equal(t, []resilience.StoredCircuit{{Name: "x", Probes: 1}},
		resilience.StoredCircuits("mine.", []string{"mine.x.state", "yours.y.state"}))
	require.Empty(t, resilience.StoredCircuits("", nil))
}
