// Package clitest runs every command of a program with settings that hold secrets, and
// looks for those in what it writes. For tests.
package clitest
