package consumer

import (
	"context"
	"log/slog"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// tell logs something of one message, with what it takes to follow it: the message
// in the stream, whose it is, and which chunk or document. ctx may belong to a trace,
// whose id the logger's handler knows to add.
func (w *Worker) tell(ctx context.Context, level slog.Level, d delivery, text string, args ...any) {
	if !w.log.Enabled(ctx, level) {
		return // what follows costs more than most messages are worth
	}
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = wire.CleanError(err.Error())
		}
	}
	ids := append(w.ids(d), "sequence", d.meta.Sequence.Stream, "delivery", d.number())
	w.log.Log(ctx, level, text, append(ids, args...)...)
}

// ids names what the message holds, as far as it can be read.
func (w *Worker) ids(d delivery) []any {
	ids := []any{"subject", d.msg.Subject}
	tenant, err := w.names.Tenant(d.msg.Subject)
	if err != nil {
		return ids
	}
	ids = append(ids, "tenant", tenant)
	if d.lane == nil {
		if doc, err := wire.DecodeDocument(d.msg.Header, d.msg.Data); err == nil {
			ids = append(ids, "document", doc.ID)
		}
		return ids
	}
	if c, err := wire.DecodeChunk(d.msg.Data); err == nil {
		ids = append(ids, "document", c.DocumentID, "chunk_id", c.ChunkID, "index", c.Index)
	}
	return ids
}

func (w *Worker) logPanic(ctx context.Context, d delivery, cause error) {
	if p, ok := cause.(*panicError); ok {
		w.tell(ctx, slog.LevelError, d, "handler panicked", "error", p, "stack", string(p.stack))
	}
}

// level is quiet about what is everyday for a fleet under a limit.
func level(v verdict) slog.Level {
	if v.attempt || v.name == outcomeStoreUnavailable || v.name == string(extraction.KindAuth) || v.name == string(extraction.KindQuota) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// message is what the observer is told of one in hand.
func (w *Worker) message(d delivery) Message {
	m := Message{
		Queue: "chunks", Subject: d.msg.Subject, Stream: d.meta.Stream, Sequence: d.meta.Sequence.Stream,
		Delivery: d.number(), StoredAt: d.meta.Timestamp, Bytes: len(d.msg.Data), Header: d.msg.Header,
	}
	if d.lane == nil {
		m.Queue = "documents"
	}
	m.Tenant, _ = w.names.Tenant(m.Subject) // "" of a subject that is nobody's
	return m
}
