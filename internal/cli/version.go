package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Version is the version of this module, "(devel)" if it is not known.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// WriteVersion says which build of a program this is: module version, commit
// and Go version, as far as they are known.
func WriteVersion(out io.Writer, program string) {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = " commit " + setting.Value
			}
		}
	}
	fmt.Fprintf(out, "%s %s%s %s %s/%s\n", program, Version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
