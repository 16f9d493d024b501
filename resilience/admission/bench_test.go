package admission_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// BenchmarkInvoke is the success path of an admitted call, everything else apart.
func BenchmarkInvoke(b *testing.B) {
	c, err := admission.New(admission.WithConcurrency(8))
	require.NoError(b, err)
	r, err := admission.NewRunner(c)
	require.NoError(b, err)
	ctx, cancel := context.WithTimeout(b.Context(), admission.DefaultAttemptCap/2)
	defer cancel()
	attempt := func(context.Context) (int, error) { return 1, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := admission.Invoke(ctx, r, admission.NewCall(), attempt); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, c.Close())
}
