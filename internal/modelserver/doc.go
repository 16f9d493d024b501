// Package modelserver is a scripted OpenAI-compatible model server on the
// loopback interface, for tests and for tools that start real workers.
//
// By default it answers every chat completion truthfully and deterministically:
// capitalised names of the last user message become entities, neighbours become
// relationships, and every quote is copied from the text. A [Behaviour] makes it
// misbehave, for one request, for requests that carry a marker, for a random
// but reproducible share of the texts, or for all.
//
// It records when every request came and what it asked, so that a test can say
// how many calls fell into any window, how many were in flight at once, and how
// often one text was asked about. It never learns of tenants: a model server
// does not.
//
// All methods are safe for concurrent use. Nothing outside tests and the tools
// under internal may import this package.
package modelserver
