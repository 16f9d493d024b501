package natskv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/cachetest"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// patient is for tests that are not about outages: a machine that is busy with
// other things is not one.
var patient = natskv.WithTimeout(20 * time.Second)

// open returns a cache in a bucket of its own.
func open(t *testing.T, js jetstream.JetStream, opts ...natskv.Option) *natskv.Cache {
	t.Helper()
	c, err := natskv.Open(t.Context(), js, "b"+strings.ToLower(nuid.Next()), opts...)
	require.NoError(t, err)
	return c
}

func comply(t *testing.T, open cachetest.Open) {
	t.Run("Cache", func(t *testing.T) { t.Parallel(); cachetest.Run(t, open) })
	t.Run("Versioned", func(t *testing.T) { t.Parallel(); cachetest.RunVersioned(t, open) })
	t.Run("Watcher", func(t *testing.T) { t.Parallel(); cachetest.RunWatcher(t, open) })
}

// R12: the suite that the in-memory cache passes, on one server.
func TestComplianceR1(t *testing.T) {
	for name, storage := range map[string]jetstream.StorageType{
		"file": jetstream.FileStorage, "memory": jetstream.MemoryStorage,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && storage == jetstream.FileStorage {
				t.Skip("the other storage has the same code paths of ours; left out of -short")
			}
			t.Parallel()
			js := connect(t, startServer(t).ClientURL())
			t.Run("suite", func(t *testing.T) {
				comply(t, func(t *testing.T) kvcache.Cache { return open(t, js, natskv.WithStorage(storage), patient) })
			})
		})
	}
}

// R12: two processes that take turns are one cache. Each operation goes to
// the other one than that before.
func TestComplianceTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("one cache at a time, through two handles; left out of -short")
	}
	t.Parallel()
	url := startServer(t).ClientURL()
	one, two := connect(t, url), connect(t, url)
	t.Run("suite", func(t *testing.T) {
		comply(t, func(t *testing.T) kvcache.Cache {
			bucket := "b" + strings.ToLower(nuid.Next())
			a, err := natskv.Open(t.Context(), one, bucket, patient)
			require.NoError(t, err)
			b, err := natskv.Open(t.Context(), two, bucket, patient)
			require.NoError(t, err)
			return &turns{caches: [2]*natskv.Cache{a, b}}
		})
	})
}
