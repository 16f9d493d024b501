// Package graph writes a merged [extraction.Graph] for people and for tools:
// as a readable listing, as JSON, as JSON lines, for Graphviz and for Mermaid, as
// GraphML, as Cypher, as two CSV tables and as a page for a browser.
//
// Names, types and quotes come out of documents and models, so every writer
// takes them for hostile: whatever they hold, the output is well formed, shows
// no character that would steer a terminal or turn the writing direction, and
// runs nothing.
package graph
