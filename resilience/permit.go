package resilience

import (
	"context"
)

// Permit is the leave to make one call, and the place to report how it ended:
// exactly one of Success, Failure, Trip and Release. A report from a period of
// the circuit that has passed changes nothing, and neither does one on a permit
// that was refused.
//
// A report that fails, or whose context ends meanwhile, may or may not have been
// recorded. Report in a context that does not end with the call, as [Guard] does; to
// repeat Failure may count it twice, to repeat any other does no harm.
type Permit struct {
	breaker *Breaker
	period  uint64
	probe   int
	id      string // of the probe's lease, "" if the call is no probe
	refusal *CircuitOpen
}

// refused says whether no call may be made with the permit, so that nothing can
// be reported of one.
func (p Permit) refused() bool { return p.breaker == nil || p.refusal != nil }

// Probe says whether the call probes a half-open circuit.
func (p Permit) Probe() bool { return p.id != "" }

// Refusal is the error to raise if Allow said no, nil if it said yes.
func (p Permit) Refusal() *CircuitOpen { return p.refusal }

// Success reports that the server did its work.
func (p Permit) Success(ctx context.Context) error {
	if p.refused() {
		return nil
	}
	b := p.breaker
	if !p.Probe() {
		// Nothing to forgive, nothing to write: what nearly every call finds.
		if _, sound, err := b.ordinary(ctx, "breaker success", &b.sound); sound || err != nil {
			return err
		}
	}
	done, err := p.report(ctx, "breaker success", func(c circuit) plan {
		switch {
		case p.Probe():
			return c.transition(Closed)
		case c[atFailures].Present:
			return c.forgive()
		}
		return plan{}
	})
	if done.to == Closed && b.cfg.Ramp > 0 {
		return b.beginRamp(ctx)
	}
	return err
}

// Failure reports that the server failed. The reason is kept for operators; it
// must hold no secrets, and is cut at 1 KiB.
func (p Permit) Failure(ctx context.Context, reason string) error {
	b := p.breaker
	_, err := p.report(ctx, "breaker failure", func(c circuit) plan {
		if p.Probe() || count(&c[atFailures])+1 >= b.cfg.FailureThreshold {
			return c.open(b.cfg.Clock(), reason, b.cfg.RecoveryTimeout)
		}
		return c.fail(b.cfg.RecoveryTimeout)
	})
	return err
}

// Trip opens the circuit at once: no call can succeed for the time being.
func (p Permit) Trip(ctx context.Context, reason string) error {
	b := p.breaker
	_, err := p.report(ctx, "breaker trip", func(c circuit) plan {
		return c.open(b.cfg.Clock(), reason, b.cfg.RecoveryTimeout)
	})
	return err
}

// Release ends a call that says nothing about the server: it was cancelled,
// never made, or refused for the caller's own sake. A probe is given back.
func (p Permit) Release(ctx context.Context) error {
	if !p.Probe() {
		return nil
	}
	_, err := p.report(ctx, "breaker release", func(c circuit) plan {
		if !c.holds(p.probe, p.id) {
			return plan{}
		}
		return c.give(p.probe)
	})
	return err
}

// Renew starts a probe's lease again and says whether the probe is still the
// caller's. For calls that are no probes it does nothing.
func (p Permit) Renew(ctx context.Context) (held bool, err error) {
	if !p.Probe() {
		return true, nil
	}
	done, err := p.report(ctx, "breaker renew", func(c circuit) plan {
		if !c.holds(p.probe, p.id) {
			return plan{}
		}
		return c.renew(p.probe, p.id, p.breaker.cfg.ProbeLease)
	})
	return len(done.changes) > 0, err
}

// report makes a change if the circuit is still in the permit's period. It returns what
// was changed, which is all that may be believed: decide may have been asked more than
// once, and first about a circuit that others have moved on since.
func (p Permit) report(ctx context.Context, op string, decide func(circuit) plan) (plan, error) {
	if p.refused() {
		return plan{}, nil
	}
	return p.breaker.change(ctx, op, func(c circuit) plan {
		if c.period() != p.period {
			return plan{}
		}
		return decide(c)
	})
}
