// Package publish is the way of documents into the fleet and of results back:
// it reads files, refuses what cannot work before anything is sent, splits,
// sends each chunk once, follows the chunks to their results or dead letters,
// and merges the results into one graph.
//
// Everything is idempotent. A chunk carries its own id, which the stream uses
// to drop a second copy; a chunk whose result is already there is not sent
// again; so a run that was interrupted is continued by the same command.
package publish
