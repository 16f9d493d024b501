// Package send traces what a publisher sends: a document, and each of its chunks until
// the stream has it. The chunks carry the trace to the workers.
package send
