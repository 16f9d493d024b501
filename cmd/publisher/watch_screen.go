package main

import (
	"fmt"
	"sync"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/publish"
)

// screenShower shows a watch on a whole terminal: the documents that are not done
// first, as many as there is room for.
type screenShower struct {
	follow *watch
	news   chan func()
	quit   chan struct{} // the user has had enough
	stop   chan struct{} // the watch has
	done   sync.WaitGroup

	last    *publish.Status
	now     *standing
	trouble error
	text    [2]string // how far it is, and how fast it goes
}

func newScreenShower(shown *screen.Screen, follow *watch) *screenShower {
	s := &screenShower{follow: follow, news: make(chan func()), quit: make(chan struct{}), stop: make(chan struct{})}
	s.done.Go(func() { s.run(shown) })
	return s
}

// run owns the screen, and what is shown, until the watch ends.
func (s *screenShower) run(shown *screen.Screen) {
	defer shown.Close()
	quit := false
	for {
		width, height := shown.Size()
		if err := shown.Draw(s.lines(width, height)); err != nil && !quit {
			quit = true // the terminal is gone
			close(s.quit)
		}
		select {
		case change := <-s.news:
			change()
		case key := <-shown.Keys():
			if (key == 'q' || key == screen.Interrupt) && !quit {
				quit = true
				close(s.quit)
			}
		case <-shown.Resized():
		case <-s.stop:
			return
		}
	}
}

func (s *screenShower) status(status publish.Status, now *standing) {
	pace := s.follow.pace(status)
	words := s.follow.words(status)
	s.news <- func() { s.last, s.now, s.trouble = &status, now, nil; s.text = [2]string{words, pace} }
}

func (s *screenShower) problem(err error)      { s.news <- func() { s.trouble = err } }
func (s *screenShower) ended() <-chan struct{} { return s.quit }

func (s *screenShower) close() {
	close(s.stop)
	s.done.Wait()
}

func (s *screenShower) lines(width, height int) []screen.Line {
	if s.last == nil {
		lines := []screen.Line{{Text: "reading results..."}}
		if s.trouble != nil {
			lines = append(lines, screen.Line{Text: s.trouble.Error(), Style: screen.Alarm})
		}
		return lines
	}
	lines := []screen.Line{{Text: "tenant " + cli.Printable(s.last.Tenant) + ": " + s.text[0], Style: screen.Strong}}
	if s.text[1] != "" {
		lines = append(lines, screen.Line{Text: s.text[1]})
	}
	if s.now != nil {
		if why := s.now.words(s.last.WaitingChunks > 0); why != "" {
			style := screen.Plain
			if s.now.WaitReason != overview.NotWaiting || s.now.Workers == 0 {
				style = screen.Note
			}
			lines = append(lines, screen.Line{Text: why, Style: style})
		}
	}
	if s.trouble != nil {
		lines = append(lines, screen.Line{Text: "cannot look: " + s.trouble.Error(), Style: screen.Alarm})
	}
	if height < len(lines)+3 {
		return lines[:min(len(lines), height)]
	}
	name := max(8, width-24)
	lines = append(lines, screen.Line{Text: screen.Fit("DOCUMENT", name) + "    DONE  CHUNKS    DEAD", Style: screen.Heading})
	room := height - len(lines) - 1
	documents := openFirst(s.last.Documents)
	for _, d := range documents[:min(room, len(documents))] {
		style := screen.Plain
		if d.DeadChunks() > 0 {
			style = screen.Alarm
		}
		lines = append(lines, screen.Line{Text: fmt.Sprintf("%s %7d %7d %7d", screen.Fit(d.DocumentID, name), d.Done, d.Chunks, d.DeadChunks()), Style: style})
	}
	return append(lines, screen.Line{Text: fmt.Sprintf("%d of %s  q quit", min(room, len(documents)), cli.Count(len(documents), "document"))})
}

// openFirst are the documents that are not done, those with dead letters, the rest.
func openFirst(all []publish.DocumentStatus) []publish.DocumentStatus {
	sorted := make([]publish.DocumentStatus, 0, len(all))
	for _, takes := range []func(publish.DocumentStatus) bool{
		func(d publish.DocumentStatus) bool { return d.Waiting > 0 },
		func(d publish.DocumentStatus) bool { return d.Waiting == 0 && d.DeadChunks() > 0 },
		func(d publish.DocumentStatus) bool { return d.Waiting == 0 && d.DeadChunks() == 0 },
	} {
		for _, d := range all {
			if takes(d) {
				sorted = append(sorted, d)
			}
		}
	}
	return sorted
}
