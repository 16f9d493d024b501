// Package kvcache holds the Cache port behind which rate limits and circuit
// breakers keep the state they share, and the in-memory cache that serves one
// process without any server.
//
// The port is deliberately small: exactly what a limiter and a breaker need to
// coordinate, in their words rather than in those of a store. It has two named
// halves, [KeyValue] and [HitWindow]; a component asks for the half it uses.
// Anything stronger is an optional capability, a separate interface that a
// component finds by type assertion and can do without: [Versioned], [Ledger] and
// [Watcher].
//
// [Memory] is the default and complete for one process. The JetStream adapter
// in kvcache/natskv is the upgrade, and its benefit is one sentence: several
// processes agree. A third party proves an adapter of its own with the suite in
// kvcache/cachetest.
package kvcache
