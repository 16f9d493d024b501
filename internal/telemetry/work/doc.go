// Package work measures what a worker does and traces it: it is the observer of a
// consumer, stands around its provider and its stores, and reads its state when
// somebody asks. docs/metrics.md names every series.
//
// Names follow OpenTelemetry's conventions for messaging and generative AI where these
// have one, and begin with weirkeeper otherwise.
package work
