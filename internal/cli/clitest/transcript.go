package clitest

import (
	"strings"
	"sync"
)

// transcript takes what a program writes, whose goroutines write at the same time, as
// to a terminal. It is safe for concurrent use.
type transcript struct {
	mu      sync.Mutex
	written strings.Builder
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written.String()
}
