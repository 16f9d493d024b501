package main

import (
	"testing"

	"github.com/weirkeeper/weirkeeper/internal/cli/clitest"
)

// No command writes a secret that it was given, whatever is wrong with it.
func TestNoCommandWritesASecret(t *testing.T) {
	quick := []string{"--max-retries", "0", "--max-attempts", "1", "--rpm", "60", "--openai-base-url", "http://127.0.0.1:1/v1"}
	run := func() any {
		return &struct {
			Run runCommand `cmd:""`
		}{}
	}
	clitest.Sweep(t, program, func() any { return &commands{} }, run, map[string][]string{
		"run":        {"--listen", "127.0.0.1:0", "--rpm", "60"},
		"try":        quick,
		"check":      quick,
		"limits set": {"--rpm", "60"},
	})
}
