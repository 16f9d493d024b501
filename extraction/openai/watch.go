package openai

import (
	"errors"
	"io"
	"time"
)

// errSilent is the end of a stream that stopped saying anything.
var errSilent = errors.New("the server fell silent in the middle of its answer")

// watch ends a stream that falls silent. Before the stream has begun it does
// nothing: a model that is being loaded, a long queue and a long prompt are silent,
// too. A nil watch never ends anything.
type watch struct {
	idle  time.Duration
	end   func(cause error)
	timer *time.Timer
}

// over is r, each read of which tells the watch that there is life.
func (w *watch) over(r io.Reader) io.Reader {
	if w == nil {
		return r
	}
	return &watched{r, w}
}

// begin starts the watch, or starts it anew; once the answer is complete it waits
// for no longer than [graceTime].
func (w *watch) begin(complete bool) {
	if w == nil {
		return
	}
	if complete {
		w.idle = min(w.idle, graceTime)
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.idle, func() { w.end(errSilent) })
		return
	}
	w.timer.Reset(w.idle)
}

func (w *watch) stop() {
	if w != nil && w.timer != nil {
		w.timer.Stop()
	}
}

type watched struct {
	io.Reader
	watch *watch
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 && w.watch.timer != nil {
		w.watch.timer.Reset(w.watch.idle)
	}
	return n, err
}
