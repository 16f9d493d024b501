//go:build unix

package screen

import (
	"os"
	"os/signal"
	"syscall"
)

func watchSize(to chan os.Signal)   { signal.Notify(to, syscall.SIGWINCH) }
func unwatchSize(to chan os.Signal) { signal.Stop(to) }
