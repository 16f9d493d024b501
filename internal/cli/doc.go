// Package cli is what the two commands share before they do any work: reading
// flags, environment and configuration file, help, logging, signals, progress
// and exit codes.
//
// A setting is looked for in this order: the flag on the command line, the
// environment (WEIR_SOME_FLAG for --some-flag, then the well-known name if the
// flag has one), the file named by --config, the default. An empty environment
// variable counts as not set, except for a flag whose tag `empty` says that
// being empty means something.
package cli
