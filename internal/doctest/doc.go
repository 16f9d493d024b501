// Package doctest runs every command of the documentation, as a reader would, in
// a fresh copy of the repository; those that cannot run here have a reason, are held
// against the programs, and are listed in docs/reference/not-run.md. It also holds
// links, named tests, metrics and deploy/ against what they speak of. It has no code
// outside its tests.
package doctest
