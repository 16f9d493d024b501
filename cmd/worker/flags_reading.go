package main

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// readingFlags are how often a chunk is read, and with what in mind.
type readingFlags struct {
	Gleaning  int  `group:"model" default:"0" help:"Further passes over each chunk, at most: asks the model again for what it missed, until it finds nothing more. Each is one more model call, admitted by the same limit and circuit; the last place of a tenant's window is left to first calls. One that fails leaves what was found before."`
	CarryOver bool `group:"model" help:"Tell the model the names that the three chunks before have, as far as their results are stored already, so that it can give one thing one name throughout a document. As the chunks of a document are done in any order by any worker, which names these are is up to chance; results say from which chunks they came."`
}

func (f readingFlags) check(openai bool) error {
	if f.Gleaning > 0 && !openai {
		return errors.New("--gleaning needs a model: the offline provider finds the same each time")
	}
	if f.CarryOver && !openai {
		return errors.New("--carry-over needs a model: the offline provider cannot be told anything")
	}
	if f.Gleaning < 0 || f.Gleaning > extraction.MaxGleaning {
		return fmt.Errorf("--gleaning must be 0 to %d", extraction.MaxGleaning)
	}
	return nil
}

// options are what the flags ask of the pipeline.
func (f readingFlags) options(js jetstream.JetStream, names wire.Names) ([]extraction.PipelineOption, error) {
	options := []extraction.PipelineOption{extraction.WithGleaning(f.Gleaning)}
	if !f.CarryOver {
		return options, nil
	}
	earlier, err := consumer.NewEarlier(js, names)
	if err != nil {
		return nil, err
	}
	return append(options, extraction.WithCarryOver(earlier.Names)), nil
}
