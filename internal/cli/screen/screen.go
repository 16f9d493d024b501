package screen

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// Screen is a terminal that a command has to itself. It is for one goroutine.
type Screen struct {
	out    *os.File
	in     *os.File    // nil without a keyboard
	before *term.State // of in
	colour bool
	keys   chan Key
	quit   chan struct{}
	resize chan os.Signal
}

// Possible reports whether out is a terminal that a screen can be opened on. Where TERM
// is not set nothing is known of it, but on Windows, which does not use that.
func Possible(out io.Writer, lookup func(string) (string, bool)) bool {
	kind, _ := lookup("TERM")
	return (kind != "" || runtime.GOOS == "windows") && kind != "dumb" && cli.IsTerminal(out)
}

// Open takes over the terminal that out is. What was on it comes back with
// [Screen.Close], which has to be called. Keys are heard if in is a terminal, too;
// the goroutine that reads them ends with the process, as a read from a terminal
// cannot be called off. Nothing is coloured if the variable NO_COLOR is set.
func Open(in io.Reader, out io.Writer, lookup func(string) (string, bool)) (*Screen, error) {
	file, ok := out.(*os.File)
	if !ok || !cli.IsTerminal(out) {
		return nil, fmt.Errorf("screen: the output is no terminal")
	}
	s := &Screen{out: file, keys: make(chan Key), quit: make(chan struct{}), resize: make(chan os.Signal, 1)}
	noColour, _ := lookup("NO_COLOR")
	s.colour = noColour == ""
	if cli.IsTerminal(in) {
		s.in = in.(*os.File)
		before, err := term.MakeRaw(int(s.in.Fd()))
		if err != nil {
			return nil, fmt.Errorf("screen: %w", err)
		}
		s.before = before
		go readKeys(s.in, s.keys, s.quit)
	}
	watchSize(s.resize)
	// The other screen, without a cursor, and without lines that go on in the next.
	if _, err := io.WriteString(s.out, "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"); err != nil {
		s.Close()
		return nil, fmt.Errorf("screen: %w", err)
	}
	return s, nil
}

// Close gives the terminal back as it was.
func (s *Screen) Close() {
	unwatchSize(s.resize)
	close(s.quit)
	_, _ = io.WriteString(s.out, "\x1b[?7h\x1b[?25h\x1b[?1049l") // a terminal that is gone needs nothing
	if s.before != nil {
		_ = term.Restore(int(s.in.Fd()), s.before)
	}
}

// Keys are those that are pressed.
func (s *Screen) Keys() <-chan Key { return s.keys }

// Resized tells that the terminal has another size, where the system does.
func (s *Screen) Resized() <-chan os.Signal { return s.resize }

// Size is how many columns and lines there are, never less than one; 80 and 24 if
// the terminal does not say.
func (s *Screen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		return 80, 24
	}
	return width, height
}

// Draw shows lines in the place of what was shown before.
func (s *Screen) Draw(lines []Line) error {
	width, height := s.Size()
	_, err := io.WriteString(s.out, paint(lines, width, height, s.colour))
	return err
}
