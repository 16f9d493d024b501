// Package extraction turns text into a grounded knowledge graph: it splits
// documents into chunks, asks a [Provider] for entities and relationships,
// parses the answer, finds every quote in the text, and merges chunks.
//
// It reaches a model only through the [Provider] port and the error family of
// [ProviderError], and cannot tell a hardened provider from a plain one.
package extraction
