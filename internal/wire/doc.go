// Package wire is what Weirkeeper's processes say to each other and to
// everybody else over NATS: the names of streams, subjects and buckets, the
// messages on them, their headers, and the shape of the streams themselves.
//
// It is the only place that spells any of these. docs/wire.md says the same in
// prose for people who write clients in other languages.
package wire
