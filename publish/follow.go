package publish

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// DefaultPoll is how often Follow looks for news.
const DefaultPoll = 250 * time.Millisecond

// Follow waits until every chunk that Send sent has a result or a dead letter,
// and returns the dead letters. It asks the streams again and again from where
// it has read to, rather than rely on a subscription, so that neither a lost
// connection nor a restarted server makes it miss anything; while the server
// cannot be reached it goes on trying. When ctx ends first the error is a
// [*WaitError], and the dead letters found until then are returned with it.
func (p *Publisher) Follow(ctx context.Context, poll time.Duration) ([]Dead, error) {
	begun := time.Now()
	var dead []Dead
	for {
		found, err := p.look(ctx)
		dead = append(dead, found...)
		if len(p.pending) == 0 {
			slices.SortFunc(dead, func(a, b Dead) int {
				return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Index, b.Index))
			})
			return dead, nil
		}
		select {
		case <-ctx.Done():
			return dead, &WaitError{Open: len(p.pending), After: time.Since(begun), Err: cmp.Or(err, context.Cause(ctx))}
		case <-time.After(poll):
		}
	}
}

// look reads what is new.
func (p *Publisher) look(ctx context.Context) ([]Dead, error) {
	names := p.plan.config.Names
	if err := p.lookAtResults(ctx, names); err != nil {
		return nil, err
	}
	dead, err := p.lookAtDead(ctx, names)
	if err != nil {
		return dead, err
	}
	return dead, p.lookAtOvertaken(ctx, names)
}

func (p *Publisher) lookAtResults(ctx context.Context, names wire.Names) error {
	last, err := lastSequence(ctx, p.js, names.ResultStream())
	if err != nil || last <= p.resume.results {
		return err
	}
	var documents []string
	if len(p.plan.Documents) <= maxFilters {
		for _, d := range p.plan.Documents {
			documents = append(documents, d.ID)
		}
	}
	for result, err := range p.reader.results(ctx, documents, p.resume.results+1) {
		if err != nil {
			return err
		}
		p.resume.results = result.sequence
		key := chunkKey{result.value.DocumentID, result.value.Index}
		chunk, open := p.pending[key]
		switch {
		case !open:
		case chunk.id == result.value.ChunkID && !chunk.copied:
			p.finish(key)
		default:
			p.overtaken[key] = true
		}
	}
	p.resume.results = max(p.resume.results, last)
	return nil
}

func (p *Publisher) lookAtDead(ctx context.Context, names wire.Names) ([]Dead, error) {
	last, err := lastSequence(ctx, p.js, names.DeadStream())
	if err != nil || last <= p.resume.dead {
		return nil, err
	}
	var dead []Dead
	for letter, err := range p.reader.deadLetters(ctx, p.resume.dead+1) {
		if err != nil {
			return dead, err
		}
		p.resume.dead = letter.sequence
		key := chunkKey{letter.value.DocumentID, letter.value.Index}
		chunk, open := p.pending[key]
		// An older letter is about an older copy of the chunk, which this
		// publication replaced.
		if open && chunk.id == letter.value.ChunkID && letter.value.OriginSequence >= chunk.sequence {
			delete(p.pending, key)
			p.counts.Dead++
			p.tell(p.counts)
			dead = append(dead, letter.value)
		}
	}
	p.resume.dead = max(p.resume.dead, last)
	return dead, nil
}

// lookAtOvertaken finishes the chunks which have left the queue and whose place
// holds the result of another version of the document, or of an earlier copy.
// Somebody published a later version, and its result stands for this one; or the
// result that was there has been marked as this one's.
func (p *Publisher) lookAtOvertaken(ctx context.Context, names wire.Names) error {
	if len(p.overtaken) == 0 {
		return nil
	}
	queue, err := p.js.Stream(ctx, names.ChunkStream())
	if err != nil {
		return err
	}
	for key := range p.overtaken {
		chunk, open := p.pending[key]
		if !open {
			delete(p.overtaken, key)
			continue
		}
		_, err := queue.GetMsg(ctx, chunk.sequence)
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return err
		}
		if err == nil {
			continue
		}
		if chunk.gone {
			delete(p.overtaken, key)
			p.finish(key)
			continue
		}
		// Its own result or dead letter was written before it left, maybe after
		// it was looked for: look once more.
		chunk.gone = true
		p.pending[key] = chunk
	}
	return nil
}

func (p *Publisher) finish(key chunkKey) {
	delete(p.pending, key)
	p.counts.Done++
	p.tell(p.counts)
}
