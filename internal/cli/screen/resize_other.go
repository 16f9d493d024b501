//go:build !unix

package screen

import "os"

// Elsewhere a new size is noticed when the screen is drawn next.
func watchSize(chan os.Signal)   {}
func unwatchSize(chan os.Signal) {}
