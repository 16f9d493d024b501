// Package process builds the commands of this module and runs them as processes
// of the operating system, for tests and tools that look at a fleet from outside.
//
// Every process is stopped by its id. Nothing of the product may import this
// package.
package process
