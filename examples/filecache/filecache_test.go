package filecache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/examples/filecache"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/cachetest"
)

// The whole suite is one line.
func TestCompliance(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) kvcache.Cache {
		cache, err := filecache.Open(t.TempDir())
		require.NoError(t, err)
		return cache
	})
}
