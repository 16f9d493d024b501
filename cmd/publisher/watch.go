package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/publish"
)

const (
	watchEvery = time.Second
	// lostAfter is how long chunks may be in no queue and have no result: somebody
	// may still be sending the rest of a document.
	lostAfter = 30 * time.Second
	// rateSpan is what rates are taken over.
	rateSpan = time.Minute
)

var errStopped = errors.New("no longer watched, and not everything is done")

// watch follows a status until everything that it is about is settled.
type watch struct {
	document string // the only one, or ""
	now      func() time.Time
	marks    []progressMark
	open     bool // the document was seen with chunks that wait
	idle     time.Time
}

// progressMark is how much was settled at a moment.
type progressMark struct {
	at      time.Time
	settled int
}

// take is given what was seen, and reports whether that is the end. An end at which
// chunks are in no queue and have no result is an error.
func (w *watch) take(s publish.Status) (ended bool, err error) {
	now := w.now()
	settled := s.Total.Done + s.Total.DeadChunks()
	if n := len(w.marks); n > 0 && settled < w.marks[n-1].settled {
		w.marks = nil // published again
	}
	if n := len(w.marks); n == 0 || settled != w.marks[n-1].settled {
		w.idle = now
	}
	w.marks = append(w.marks, progressMark{now, settled})
	for len(w.marks) > 2 && now.Sub(w.marks[1].at) >= rateSpan {
		w.marks = w.marks[1:]
	}
	queued := s.WaitingChunks+s.WaitingDocuments > 0
	switch {
	case w.document != "" && w.open && s.Total.Waiting == 0 && s.Total.Chunks > 0:
		return true, nil
	case queued:
		w.open = w.open || s.Total.Waiting > 0
		w.idle = now
		return false, nil
	case s.Total.Waiting == 0:
		return true, nil
	case now.Sub(w.idle) < lostAfter:
		return false, nil
	}
	return true, fmt.Errorf("%s in no queue and have no result: publish the documents again", cli.Count(s.Total.Waiting, "chunk"))
}

// rate is how many chunks are settled per second, 0 if it is not known or none are.
func (w *watch) rate() float64 {
	if len(w.marks) < 2 {
		return 0
	}
	first, last := w.marks[0], w.marks[len(w.marks)-1]
	if span := last.at.Sub(first.at).Seconds(); span > 0 {
		return float64(last.settled-first.settled) / span
	}
	return 0
}

// words are one line that says how far it is.
func (w *watch) words(s publish.Status) string {
	settled := s.Total.Done + s.Total.DeadChunks()
	text := fmt.Sprintf("%d of %s done", settled, cli.Count(s.Total.Chunks, "chunk"))
	if s.Total.Chunks == 0 && s.WaitingChunks > 0 { // how many there will be is not known
		text = fmt.Sprintf("nothing done yet, %s waiting", cli.Count(int(s.WaitingChunks), "chunk"))
	} else if n := int(s.WaitingChunks) - s.Total.Waiting; n > 0 { // of documents that have nothing done yet, or are not asked for
		text += fmt.Sprintf(", %d more wait for the tenant", n)
	}
	if dead := s.Total.DeadChunks(); dead > 0 {
		text += fmt.Sprintf(", dead %s", kinds(s.Total.Dead))
	}
	if s.WaitingDocuments > 0 {
		text += fmt.Sprintf(", %s not split yet", cli.Count(int(s.WaitingDocuments), "document"))
	}
	return text
}

// pace is how fast it goes and when it will be over, "" if that is not known.
func (w *watch) pace(s publish.Status) string {
	rate := w.rate()
	if rate <= 0 {
		return ""
	}
	text := fmt.Sprintf("%.1f chunks/s", rate)
	left := s.Total.Waiting
	if w.document == "" {
		left = max(left, int(s.WaitingChunks))
	}
	if left > 0 {
		text += ", about " + time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return text
}

// watch shows the status until it ends, and returns the error that decides the exit
// code.
func (c *statusCommand) watch(ctx context.Context, streams cli.Streams, s *session, reader *publish.Reader) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	fleet, err := s.overview(c.Tenant)
	if err != nil {
		return err
	}
	follow := &watch{document: c.Document, now: time.Now}
	show, err := c.shower(streams, follow)
	if err != nil {
		return err
	}
	looks := reader.Watch(c.filter())
	status, err := c.watchOn(ctx, looks, fleet, follow, show)
	show.close()
	if status == nil {
		return c.unfinished(ctx, err)
	}
	// What a script reads is the last status, as without --watch.
	if printed := c.print(streams.Out, *status, nil); printed != nil {
		return printed
	}
	if err != nil {
		return c.unfinished(ctx, err)
	}
	dead := status.Total.DeadChunks()
	if c.Document == "" && c.InRun == "" {
		for _, n := range status.Unreadable {
			dead += n
		}
	}
	if dead > 0 {
		return cli.DeadLettered(fmt.Errorf("%s", cli.Count(dead, "dead letter")))
	}
	return nil
}

// unfinished tells a wait that was too long from others.
func (c *statusCommand) unfinished(ctx context.Context, err error) error {
	if c.Timeout > 0 && context.Cause(ctx) == context.DeadlineExceeded {
		return cli.TimedOut(fmt.Errorf("not everything is done after %s", c.Timeout))
	}
	return err
}

// watchOn looks again and again. The status is the last that was seen, nil if there was
// none.
func (c *statusCommand) watchOn(ctx context.Context, looks *publish.StatusWatch, fleet *overview.Reader, follow *watch, show shower) (last *publish.Status, err error) {
	for {
		status, err := looks.Look(ctx)
		if ctx.Err() != nil {
			return last, ctx.Err()
		}
		if err != nil {
			show.problem(err) // a server that is away comes back
		} else {
			if last = &status; c.prices != nil {
				status.AddCost(*c.prices)
			}
			now, _ := readStanding(ctx, fleet) // without it, why it waits is not told
			ended, err := follow.take(status)
			show.status(status, now)
			if ended {
				return last, err
			}
		}
		select {
		case <-time.After(watchEvery):
		case <-show.ended():
			return last, errStopped
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
}

// shower shows a watch to people.
type shower interface {
	status(publish.Status, *standing)
	problem(error)
	ended() <-chan struct{} // somebody wants no more of it
	close()
}

func (c *statusCommand) shower(streams cli.Streams, follow *watch) (shower, error) {
	if !screen.Possible(streams.Err, os.LookupEnv) {
		return &lineShower{out: streams.Err, follow: follow}, nil
	}
	shown, err := screen.Open(streams.In, streams.Err, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return newScreenShower(shown, follow), nil
}

// lineShower writes a line whenever it says something else than the one before.
type lineShower struct {
	out    io.Writer
	follow *watch
	before string
}

func (l *lineShower) status(s publish.Status, now *standing) {
	text := l.follow.words(s)
	line := text
	if now != nil {
		why := now.words(s.WaitingChunks > 0)
		if now.WaitReason == overview.NotWaiting && now.Workers > 0 {
			why = "" // changes all the time
		}
		if why != "" {
			line += "; " + why
			// How many seconds are left is no news.
			text += "; " + string(now.WaitReason)
		}
	}
	if pace := l.follow.pace(s); pace != "" {
		line += "; " + pace
	}
	l.say(text, line)
}

func (l *lineShower) problem(err error) {
	l.say(err.Error(), "cannot look: "+cli.Printable(err.Error()))
}

func (l *lineShower) say(news, line string) {
	if news != l.before {
		l.before = news
		fmt.Fprintln(l.out, line)
	}
}

func (l *lineShower) ended() <-chan struct{} { return nil }
func (l *lineShower) close()                 {}
