// Package domains reads domain files: what to look for in news, in a novel or in
// a manual, as YAML. It comes with six that everybody can start from, and its
// reader is strict: a misspelt key or type is an error with its line.
package domains
