package offline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/offline"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

// BenchmarkExtract reads the sample's documents, about 1,100 bytes each.
func BenchmarkExtract(b *testing.B) {
	p, err := offline.New()
	require.NoError(b, err)
	docs, err := gold.Sample()
	require.NoError(b, err)
	size := 0
	for _, d := range docs {
		size += len(d.Text)
	}
	b.SetBytes(int64(size / len(docs)))
	for i := 0; b.Loop(); i++ {
		if _, err := p.Extract(b.Context(), extraction.Request{Text: docs[i%len(docs)].Text}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkNew is what a process pays once.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := offline.New(); err != nil {
			b.Fatal(err)
		}
	}
}
