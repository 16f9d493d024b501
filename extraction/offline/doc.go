// Package offline is an [extraction.Provider] without a model server: a small
// name tagger trained for English, and patterns for what stands between two
// names. It lets a newcomer see the whole path work, and a fleet run where no
// model may be called. It is far below a language model and says so: its model
// name starts with "offline/", every confidence is the share of such answers
// that were right on test texts, and README.md has the figures.
//
// It reads English only. Text that it takes for another language gives a valid
// answer without entities. It ignores the system prompt and the schema.
package offline
