package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// spareHeap is how much more garbage than Go allows for a worker may make between two
// collections. A worker keeps some 8 MB, so that there would be one every few hundred chunks,
// each of which looks at all of that: a tenth of what a busy worker does.
const spareHeap = 24 << 20

// startTime is after what time a worker has started, and can give back what that has left
// behind.
const startTime = 3 * time.Second

// widenHeap lets the heap grow by [spareHeap] until undo is called: the collector takes
// memory that is reserved for kept, and as nobody touches it the machine is asked for
// none. A higher GOGC would also multiply what a large document or an embedded server keeps.
// Whoever sets GOGC or GOMEMLIMIT has his way.
func widenHeap() (undo func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	reserved := make([]byte, spareHeap)
	started := time.AfterFunc(startTime, debug.FreeOSMemory)
	return func() {
		started.Stop()
		runtime.KeepAlive(reserved)
	}
}
