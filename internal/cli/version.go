package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// Version is the version of this module, "(devel)" if it is not known.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return ""
}

// module is the path of this module, "" if it is not known.
func module() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Path
	}
	return ""
}

// Build is which build of a program this is, "" where it is not known.
type Build struct{ Version, Revision, Go string }

// ReadBuild reads it from the program itself.
func ReadBuild() Build { return Build{Version(), revision(), runtime.Version()} }

// WriteVersion says which build of a program this is: module path and version,
// commit and Go version, as far as they are known.
func WriteVersion(out io.Writer, program string) {
	commit := revision()
	if commit != "" {
		commit = " commit " + commit
	}
	path := module()
	if path != "" {
		path = " " + path
	}
	fmt.Fprintf(out, "%s %s%s%s %s %s/%s\n", program, Version(), path, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Instance tells the processes of a fleet apart, in results, logs, metrics and traces:
// host name and process id, or otherwise instead of a host name that is not known.
func Instance(otherwise string) string {
	host, err := os.Hostname()
	if err != nil {
		host = otherwise
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}
