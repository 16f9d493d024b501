package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what the process holds at the moment, resident, in bytes. Without a /proc
// of Linux's kind it is a [ErrUnsupported].
func (p *Process) Memory() (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.ID()) + "/statm")
	if err != nil {
		return 0, fmt.Errorf("memory of %s: %w: %w", p.name, ErrUnsupported, err)
	}
	return parseMemory(string(text))
}

// parseMemory reads the second field of /proc/PID/statm, pages.
func parseMemory(statm string) (int64, error) {
	fields := strings.Fields(statm)
	if len(fields) < 2 {
		return 0, fmt.Errorf("%w: /proc/PID/statm has another form", ErrUnsupported)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || pages < 0 {
		return 0, fmt.Errorf("%w: /proc/PID/statm has another form", ErrUnsupported)
	}
	return pages * int64(os.Getpagesize()), nil
}
