// Package consumer is the worker's way from the queues to the results: it pulls
// chunks and raw documents, keeps what it holds alive, has chunks extracted, and
// settles every delivery by one table, see outcome.go.
//
// Three promises shape it. It never holds a message that it cannot start: it
// pulls no more than it has free slots for, and never sleeps while it holds
// one. A message is only given up once what became of it is stored: the result,
// the chunks of a document, or the dead letter. And attempts are counted apart
// from deliveries, because a refusal, a shutdown and a crash are deliveries too.
//
// It takes an [Extractor] and knows nothing of models, limits or circuits beyond
// the errors that they return.
package consumer
