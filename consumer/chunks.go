package consumer

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// handleChunk does what one delivery of a chunk asks for. A nil error means that
// its result is stored.
func (w *Worker) handleChunk(ctx context.Context, d delivery) (outcome string, err error) {
	tenant, err := w.names.Tenant(d.msg.Subject)
	if err != nil {
		return "", err
	}
	c, err := wire.DecodeChunk(d.msg.Data)
	if err != nil {
		return "", err
	}
	w.observer.Reads(ctx, c)
	finding, found := w.observer.Step(ctx, StepFind)
	before, answered, err := w.results.look(finding, tenant, c, d)
	found(err)
	if err != nil {
		return "", err
	}
	if answered {
		return outcomeAlreadyDone, nil
	}
	failed, err := w.attempts.failed(ctx, d)
	if err != nil {
		return "", err
	}

	started, began := w.cfg.Clock(), time.Now()
	x, err := w.extract(ctx, tenant, c)
	took := time.Since(began) // whatever became of the clock meanwhile
	shared := d.again() || took > w.cfg.AckWait
	if err != nil {
		// Somebody else may have had the same chunk in hand, and more luck.
		if shared {
			if _, answered, e := w.results.answered(ctx, tenant, c, d.meta.Timestamp); e == nil && answered {
				return outcomeAlreadyDone, nil
			}
		}
		return "", err
	}
	// What was paid for is stored, even if the worker or the chunk ran out of
	// time meanwhile.
	result := wire.Result{
		TenantID: tenant, DocumentID: c.DocumentID, ChunkID: c.ChunkID, Index: c.Index, Total: c.Total,
		Title: c.Title, URI: c.URI, ByteStart: c.ByteStart, ByteEnd: c.ByteEnd, Metadata: c.Metadata,
		Extraction: x, Attempts: failed + 1,
		StartedAt: started, FinishedAt: started.Add(took), Worker: w.cfg.WorkerName,
	}
	storing, stored := w.observer.Step(context.WithoutCancel(ctx), StepStore)
	err = w.results.store(storing, before, c, result, d.meta.Timestamp)
	stored(err)
	if err != nil {
		return "", err
	}
	w.timed(took, w.presence.serverTime(w.cfg.Clock()).Sub(d.meta.Timestamp))
	return outcomeExtracted, nil
}

// extract calls the extractor and turns its panic into an error.
func (w *Worker) extract(ctx context.Context, tenant string, c extraction.Chunk) (x extraction.Extraction, err error) {
	defer recovered(&err)
	return w.extractor.Extract(ctx, tenant, c)
}

// recovered is deferred where code runs that must not take the worker with it.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &panicError{value: value, stack: debug.Stack()}
	}
}
