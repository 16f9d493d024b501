package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// WriteVersion says which build of a program this is: module version, commit
// and Go version, as far as they are known.
func WriteVersion(out io.Writer, program string) {
	version, commit := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = " commit " + setting.Value
			}
		}
	}
	fmt.Fprintf(out, "%s %s%s %s %s/%s\n", program, version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
