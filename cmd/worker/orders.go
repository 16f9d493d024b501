package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/statuspage"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/publish"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	// maxReplays bounds one order to replay, so that it is over before its giver
	// gives up; another one goes on.
	maxReplays = 1000
	// replayTime ends it earlier.
	replayTime = 15 * time.Second
)

// orders carries out what the status page is told, as the commands of an operator do.
type orders struct{ session *session }

// refused is an order that makes no sense.
func refused(err error) error { return &statuspage.RefusedError{Reason: err.Error()} }

// target is what an order is about: a name that was lost on the way is not the whole
// fleet.
func (o orders) target(t statuspage.Target) (pauses.Pause, error) {
	chosen := pauseTarget{Tenant: &t.Tenant}
	switch {
	case t.Fleet && t.Tenant != "":
		return pauses.Pause{}, &statuspage.RefusedError{Reason: "give a tenant or the fleet, not both"}
	case t.Fleet:
		chosen = pauseTarget{}
	case t.Tenant == "":
		return pauses.Pause{}, &statuspage.RefusedError{Reason: "give tenant, the name of one, or fleet: true"}
	}
	pause, err := chosen.pause()
	if err != nil {
		return pause, refused(err)
	}
	return pause, nil
}

func (o orders) Pause(ctx context.Context, order statuspage.PauseOrder) (string, error) {
	pause, err := o.target(order.Target)
	if err != nil {
		return "", err
	}
	if order.Minutes < 1 || order.Minutes > int(pauses.Longest/time.Minute) {
		return "", &statuspage.RefusedError{Reason: fmt.Sprintf("a pause lasts from 1 to %d minutes", int(pauses.Longest/time.Minute))}
	}
	book, err := openPauses(ctx, o.session, true)
	if err != nil {
		return "", err
	}
	pause.Reason = wire.CleanError(order.Reason)
	if pause.Until, err = checkEnd(book.now.Add(time.Duration(order.Minutes)*time.Minute), book.now); err != nil {
		return "", refused(err)
	}
	if err := book.put(ctx, pause); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is paused until %s", targetShown(pause), pause.Until.Format(time.RFC3339)), nil
}

func (o orders) Resume(ctx context.Context, order statuspage.Target) (string, error) {
	target, err := o.target(order)
	if err != nil {
		return "", err
	}
	book, err := openPauses(ctx, o.session, false)
	if err != nil {
		return "", err
	}
	ended, left, err := book.end(ctx, target)
	if err != nil {
		return "", err
	}
	done := targetShown(target) + " goes on"
	if len(ended) == 0 {
		done = targetShown(target) + " is not paused"
	}
	switch {
	case len(left) > 0 && left[0].Fleet:
		done += "; the whole fleet is still paused until " + left[0].Until.Format(time.RFC3339)
	case target.Fleet && len(left) > 0:
		done += "; still paused: " + cli.Count(len(left), "tenant")
	}
	return done, nil
}

func (o orders) OpenCircuit(ctx context.Context, order statuspage.CircuitOrder) (string, error) {
	reason := wire.CleanError(order.Reason)
	if reason == "" {
		reason = "opened by an operator"
	}
	return o.circuit(ctx, order.Circuit, true, func(b *resilience.Breaker) error { return b.Force(ctx, reason) })
}

func (o orders) ResetCircuit(ctx context.Context, order statuspage.CircuitOrder) (string, error) {
	return o.circuit(ctx, order.Circuit, false, func(b *resilience.Breaker) error { return b.Reset(ctx) })
}

func (o orders) circuit(ctx context.Context, name string, write bool, do func(*resilience.Breaker) error) (string, error) {
	if err := checkCircuit(name); err != nil {
		return "", refused(err)
	}
	book, err := openCircuits(ctx, o.session, write)
	if err != nil {
		return "", err
	}
	defer book.closeCache()
	if !write && !book.knows(name) { // writing would only make a misspelt circuit known
		return fmt.Sprintf("nothing is stored of circuit %s: there is nothing to reset", cli.Printable(name)), nil
	}
	breaker, err := book.breaker(name, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = breaker.Close() }()
	if err := do(breaker); err != nil {
		return "", err
	}
	s, err := breaker.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	done := fmt.Sprintf("circuit %s is %s", cli.Printable(name), stateShown(s))
	if !book.knows(name) {
		done += "; nothing was stored of it before: check that workers have a circuit of this name"
	}
	return done, nil
}

func (o orders) SetLimits(ctx context.Context, order statuspage.LimitsOrder) (string, error) {
	entry := tenantLimits{RPM: order.RPM, WindowMS: order.WindowMS, TPM: order.TPM}
	if entry == (tenantLimits{}) {
		return "", &statuspage.RefusedError{Reason: "give at least one of rpm, window_ms and tpm: whole numbers, from 1"}
	}
	if err := entry.check(order.Tenant); err != nil {
		return "", refused(err)
	}
	if err := storeLimits(ctx, o.session, order.Tenant, entry); err != nil {
		return "", err
	}
	done := fmt.Sprintf("tenant %s has limits of its own; running workers follow within two seconds", cli.Printable(order.Tenant))
	if warning := smallTokens(entry.TPM); warning != "" {
		done += "; but " + warning
	}
	return done, nil
}

func (o orders) UnsetLimits(ctx context.Context, order statuspage.Target) (string, error) {
	if order.Tenant == "" {
		return "", &statuspage.RefusedError{Reason: "the fleet's limits are the workers' flags: give tenant, the name of one"}
	}
	target, err := o.target(order)
	if err != nil {
		return "", err
	}
	had, err := removeLimits(ctx, o.session, target.Tenant)
	if err != nil {
		return "", err
	}
	if len(had) == 0 {
		return targetShown(target) + " had no limits of its own", nil
	}
	return "the workers' limits hold again for " + targetShown(target), nil
}

func (o orders) Replay(ctx context.Context, order statuspage.ReplayOrder) (string, error) {
	var letters iter.Seq2[publish.Letter, error]
	switch {
	case order.Letter != 0 && order.Kind == "" && order.Tenant == "":
		one := deadReplayCommand{Letters: []uint64{order.Letter}}
		letters = one.chosen(ctx, o.session)
	case order.Letter != 0:
		return "", &statuspage.RefusedError{Reason: "give a letter or a kind, not both"}
	case !wire.IsDeadKind(order.Kind):
		return "", &statuspage.RefusedError{Reason: "give kind, one of " + strings.Join(wire.DeadKinds(), ", ") + ", or letter, the number of one"}
	default:
		letters = publish.Letters(ctx, o.session.js, o.session.names, publish.LetterFilter{Kind: order.Kind, Tenant: order.Tenant})
	}
	began, sent, left, why := time.Now(), 0, 0, ""
	for letter, err := range letters {
		var r replay
		if err == nil {
			r, err = replayLetter(ctx, o.session, letter, false)
		}
		if _, gone := errors.AsType[*publish.NoLetterError](err); gone && order.Letter != 0 {
			return "", refused(err)
		}
		if err != nil {
			return "", fmt.Errorf("%s sent again, then: %w", cli.Count(sent, "letter"), err)
		}
		if r.Reason == "" {
			sent++
		} else {
			left, why = left+1, r.Reason
		}
		if sent+left == maxReplays || time.Since(began) > replayTime {
			return fmt.Sprintf("%s sent again, %d left; there may be more: replay again", cli.Count(sent, "letter"), left), nil
		}
	}
	done := cli.Count(sent, "letter") + " sent again"
	if left > 0 {
		done += fmt.Sprintf(", %d left, such as because %s", left, why)
	}
	return done, nil
}
