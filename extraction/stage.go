package extraction

import "context"

// Stage is a part of the work on one chunk.
type Stage string

// The stages, in their order. A model's part in them is told by whoever wraps the
// [Provider].
const (
	StageClassify Stage = "classify" // the domain of its document is chosen, if there is a [Chooser]
	StageGround   Stage = "ground"   // the answer is read and held against the text; further passes of [WithGleaning] are within
)

// WithStages has begin called as each stage begins. What is done in the stage is done
// under the context that it returns; ended is called when the stage is over, with its
// error. begin must be quick and safe for concurrent use.
func WithStages(begin func(context.Context, Stage) (inner context.Context, ended func(error))) PipelineOption {
	return func(p *Pipeline) error {
		if begin == nil {
			return &ArgumentError{Argument: "stages", Reason: "must not be nil"}
		}
		p.stage = begin
		return nil
	}
}

// untold is for a pipeline whose stages nobody hears of.
func untold(ctx context.Context, _ Stage) (context.Context, func(error)) { return ctx, stageEnded }

func stageEnded(error) {}
