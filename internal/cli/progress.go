package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// Progress shows how far a number of things is: a bar on a terminal, a line now
// and then elsewhere. It is for one goroutine.
type Progress struct {
	out   io.Writer
	label string
	total int

	bars *mpb.Progress // nil off a terminal
	bar  *mpb.Bar
	dead atomic.Int64 // shown beside the bar, which draws itself

	last time.Time // when the last line was written
	now  func() time.Time
}

// lineEvery is how often a line is written off a terminal.
const lineEvery = 10 * time.Second

// NewProgress begins to show label on out. now is the clock; nil means
// time.Now.
func NewProgress(out io.Writer, label string, total int, now func() time.Time) *Progress {
	if now == nil {
		now = time.Now
	}
	p := &Progress{out: out, label: label, total: total, now: now, last: now()}
	if IsTerminal(out) && total > 0 {
		p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(48))
		p.bar = p.bars.AddBar(int64(total),
			mpb.PrependDecorators(decor.Name(label+" "), decor.CountersNoUnit("%d / %d ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
				if dead := p.dead.Load(); dead > 0 {
					return fmt.Sprintf("%d dead-lettered ", dead)
				}
				return ""
			}), decor.AverageETA(decor.ET_STYLE_GO)),
		)
	}
	return p
}

// Set says how many are finished, and how many of these were dead-lettered.
func (p *Progress) Set(finished, dead int) {
	if p.bar != nil {
		p.dead.Store(int64(dead))
		p.bar.SetCurrent(int64(finished))
		return
	}
	if now := p.now(); now.Sub(p.last) >= lineEvery && finished < p.total {
		p.last = now
		fmt.Fprintf(p.out, "%s: %d of %d\n", p.label, finished, p.total)
	}
}

// End takes the bar away or leaves it full.
func (p *Progress) End() {
	if p.bars == nil {
		return
	}
	p.bar.Abort(false)
	p.bars.Wait()
}

// IsTerminal reports whether stream, a reader or a writer, is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
