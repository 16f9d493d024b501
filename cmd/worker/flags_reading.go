package main

import (
	"errors"
	"fmt"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// readingFlags are how often a chunk is read.
type readingFlags struct {
	Gleaning int `group:"model" default:"0" help:"Further passes over each chunk, at most: asks the model again for what it missed, until it finds nothing more. Each is one more model call, admitted by the same limit and circuit; the last place of a tenant's window is left to first calls. One that fails leaves what was found before."`
}

func (f readingFlags) check(openai bool) error {
	if f.Gleaning > 0 && !openai {
		return errors.New("--gleaning needs a model: the offline provider finds the same each time")
	}
	if f.Gleaning < 0 || f.Gleaning > extraction.MaxGleaning {
		return fmt.Errorf("--gleaning must be 0 to %d", extraction.MaxGleaning)
	}
	return nil
}
