// Package manual writes a program's manual page from the same description of its
// commands and flags that parses the command line, so that both agree.
package manual
