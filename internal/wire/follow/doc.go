// Package follow reads small KeyValue buckets that operators write, again
// whenever something was written, while a fleet runs.
package follow
