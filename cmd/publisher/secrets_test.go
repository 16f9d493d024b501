package main

import (
	"testing"

	"github.com/weirkeeper/weirkeeper/internal/cli/clitest"
)

// No command writes a secret that it was given, whatever is wrong with it.
func TestNoCommandWritesASecret(t *testing.T) {
	publish := func() any {
		return &struct {
			Publish publishCommand `cmd:""`
		}{}
	}
	clitest.Sweep(t, program, func() any { return &commands{} }, publish, nil)
}
