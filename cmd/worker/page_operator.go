package main

import (
	"context"

	"github.com/weirkeeper/weirkeeper/internal/statuspage"
)

// operator gives the orders of the status page to a session that it opens for each, with
// the worker's rights: on a connection that nothing else uses, what the server forbids is
// known at once to be this order's. It implements [statuspage.Operator].
type operator func(context.Context) (*session, error)

func give[T any](ctx context.Context, open operator, order T, do func(orders, context.Context, T) (string, error)) (done string, err error) {
	s, err := open(ctx)
	if err != nil {
		return "", err
	}
	defer s.close()
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		done, err = do(orders{s}, ctx, order)
		return err
	})
	return done, err
}

func (p operator) Pause(ctx context.Context, o statuspage.PauseOrder) (string, error) {
	return give(ctx, p, o, orders.Pause)
}

func (p operator) Resume(ctx context.Context, o statuspage.Target) (string, error) {
	return give(ctx, p, o, orders.Resume)
}

func (p operator) OpenCircuit(ctx context.Context, o statuspage.CircuitOrder) (string, error) {
	return give(ctx, p, o, orders.OpenCircuit)
}

func (p operator) ResetCircuit(ctx context.Context, o statuspage.CircuitOrder) (string, error) {
	return give(ctx, p, o, orders.ResetCircuit)
}

func (p operator) SetLimits(ctx context.Context, o statuspage.LimitsOrder) (string, error) {
	return give(ctx, p, o, orders.SetLimits)
}

func (p operator) UnsetLimits(ctx context.Context, o statuspage.Target) (string, error) {
	return give(ctx, p, o, orders.UnsetLimits)
}

func (p operator) Replay(ctx context.Context, o statuspage.ReplayOrder) (string, error) {
	return give(ctx, p, o, orders.Replay)
}
