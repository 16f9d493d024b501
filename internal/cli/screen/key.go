package screen

import (
	"io"
	"unicode/utf8"
)

// Key is a key that was pressed: a character, or one of these.
type Key rune

const (
	Up Key = utf8.MaxRune + 1 + iota
	Down
	PageUp
	PageDown
	Home
	End
	Enter
	Escape
	Backspace
	Tab
	Interrupt // Ctrl-C, or Ctrl-D
)

// sequences are what terminals send for keys without a character.
var sequences = map[string]Key{
	"[A": Up, "OA": Up, "[B": Down, "OB": Down, "[5~": PageUp, "[6~": PageDown,
	"[H": Home, "OH": Home, "[1~": Home, "[F": End, "OF": End, "[4~": End,
}

// parseKeys takes the keys out of what a terminal has sent at once. A sequence that
// is not known is no key.
func parseKeys(sent []byte) []Key {
	var keys []Key
	for len(sent) > 0 {
		if sent[0] == 0x1b {
			n := sequence(sent[1:])
			if n == 0 {
				keys, sent = append(keys, Escape), sent[1:]
				continue
			}
			if key, known := sequences[string(sent[1:1+n])]; known {
				keys = append(keys, key)
			}
			sent = sent[1+n:]
			continue
		}
		r, n := utf8.DecodeRune(sent)
		sent = sent[n:]
		switch r {
		case '\r', '\n':
			keys = append(keys, Enter)
		case '\t':
			keys = append(keys, Tab)
		case 0x7f, 0x08:
			keys = append(keys, Backspace)
		case 0x03, 0x04:
			keys = append(keys, Interrupt)
		default:
			if r >= ' ' && r != utf8.RuneError {
				keys = append(keys, Key(r))
			}
		}
	}
	return keys
}

// sequence is how long the sequence is that follows an escape, 0 if none does.
func sequence(b []byte) int {
	switch {
	case len(b) < 2 || b[0] != '[' && b[0] != 'O':
		return 0
	case b[0] == 'O':
		return 2
	}
	for i := 1; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	}
	return len(b)
}

// readKeys passes on keys until in ends or quit is closed.
func readKeys(in io.Reader, keys chan<- Key, quit <-chan struct{}) {
	buffer := make([]byte, 256)
	for {
		n, err := in.Read(buffer)
		for _, key := range parseKeys(buffer[:n]) {
			select {
			case keys <- key:
			case <-quit:
				return
			}
		}
		if err != nil {
			return
		}
	}
}
