package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func names(t testing.TB, namespace string) wire.Names {
	t.Helper()
	n, err := wire.NewNames(namespace)
	require.NoError(t, err)
	return n
}

func TestNamesOfTheContract(t *testing.T) {
	n := names(t, "")
	require.Equal(t, "weir.chunks.acme", n.ChunkSubject("acme"))
	require.Equal(t, "WEIR_CHUNKS", n.ChunkStream())
	require.Equal(t, "weir.documents.=YSBi", n.DocumentSubject("a b"))
	require.Equal(t, "WEIR_DOCUMENTS", n.DocumentStream())
	require.Equal(t, "weir.results.acme.doc-1.7", n.ResultSubject("acme", "doc-1", 7))
	require.Equal(t, "weir.results.acme.doc-1.*", n.ResultFilter("acme", "doc-1"))
	require.Equal(t, "weir.results.acme.*.*", n.ResultFilter("acme", ""))
	require.Equal(t, "WEIR_RESULTS", n.ResultStream())
	require.Equal(t, "weir.dead.acme", n.DeadSubject("acme"))
	require.Equal(t, "WEIR_DEAD", n.DeadStream())
	require.Equal(t, "weir_circuit", n.CircuitBucket())
	require.Equal(t, "weir_ratelimit", n.RateLimitBucket())
	require.Equal(t, "weir_limits", n.LimitsBucket())
	require.Equal(t, "weir_pause", n.PauseBucket())
	require.Equal(t, "weir_attempts", n.AttemptsBucket())
	require.Equal(t, "weir_workers", n.WorkersBucket())

	other := names(t, "Team-7")
	require.Equal(t, "Team-7.chunks.acme", other.ChunkSubject("acme"))
	require.Equal(t, "TEAM-7_CHUNKS", other.ChunkStream())
	require.Equal(t, "team-7_circuit", other.CircuitBucket())
}

func TestNamespaceIsChecked(t *testing.T) {
	for _, ns := range []string{" ", "a.b", "a b", "*", ">", "$JS", "-a", "_a", "é", "a\n", strings.Repeat("a", 33)} {
		_, err := wire.NewNames(ns)
		var ne *wire.NamespaceError
		require.ErrorAs(t, err, &ne, "%q", ns)
		require.Contains(t, err.Error(), "namespace")
	}
}

func TestTenantOfASubject(t *testing.T) {
	n := names(t, "")
	for _, tenant := range []string{"acme", "", "a b", "a.b.*", "テナント", strings.Repeat("x", wire.MaxIDBytes)} {
		for _, subject := range []string{n.ChunkSubject(tenant), n.DocumentSubject(tenant), n.DeadSubject(tenant), n.ResultSubject(tenant, "d", 0)} {
			got, err := n.Tenant(subject)
			require.NoError(t, err)
			require.Equal(t, tenant, got)
		}
		require.Equal(t, n.DeadSubject(tenant), n.DeadSubjectFor(n.ChunkSubject(tenant)))
		require.Less(t, len(n.ResultSubject(tenant, strings.Repeat("é", wire.MaxIDBytes/2), 1<<40)), 2048)
	}
	for _, subject := range []string{"", "weir", "weir.chunks", "weir.chunks.", "weirchunks.a", "other.chunks.a", "weir.other.a", "weir.chunks.a+b",
		n.ChunkSubject(strings.Repeat("x", wire.MaxIDBytes+1))} {
		_, err := n.Tenant(subject)
		var te *wire.TokenError
		require.ErrorAs(t, err, &te, "%q", subject)
	}
	// What does not decode still has a place to go.
	require.Equal(t, "weir.dead.a+b", n.DeadSubjectFor("weir.chunks.a+b"))
	require.Equal(t, "weir.dead.=", n.DeadSubjectFor("something else"))
}
