package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that the process has used so far, in ticks of 10 ms.
// Without a /proc of Linux's kind it is a [ErrUnsupported].
func (p *Process) CPU() (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.ID()) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("processor time of %s: %w: %w", p.name, ErrUnsupported, err)
	}
	return parseCPU(string(text))
}

// parseCPU reads fields 14 and 15 of /proc/PID/stat, user and system time. The
// second field is a name in parentheses that may hold anything.
func parseCPU(stat string) (time.Duration, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	_, rest, found := strings.Cut(stat[max(0, strings.LastIndexByte(stat, ')')):], ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 13 {
		return 0, fmt.Errorf("%w: /proc/PID/stat has another form", ErrUnsupported)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%w: /proc/PID/stat has another form", ErrUnsupported)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
