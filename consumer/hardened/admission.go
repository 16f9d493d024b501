package hardened

import (
	"context"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// WithAdmission takes every call through the runner: it waits in the process's
// own bounded queue, is counted and can be inspected until it is over, and its
// deadline names the phase that it met. The guard stands around the attempts, so
// that the circuit and the fleet's limit are asked once the call is admitted. The
// runner's controller stays the caller's to close; its guard is not used.
func WithAdmission(r *admission.Runner) Option {
	return func(p *provider) { p.runner = r }
}

// admitted is Extract through the runner.
func (p *provider) admitted(ctx context.Context, call resilience.Call, req extraction.Request) (extraction.Completion, error) {
	var answer extraction.Completion
	guard := func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
		return p.guard.Do(ctx, call, func(ctx context.Context) (int64, error) {
			answer = extraction.Completion{}
			err := attempt(ctx)
			return used(answer), err
		})
	}
	return admission.Invoke(ctx, p.runner, admission.NewCall(admission.WithTokens(call.Tokens), admission.GuardedBy(guard)),
		func(ctx context.Context) (extraction.Completion, error) {
			var err error
			answer, err = p.next.Extract(ctx, req)
			return answer, err
		})
}
