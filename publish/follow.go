package publish

import (
	"cmp"
	"context"
	"slices"
	"time"

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
	return p.lookAtDead(ctx, names)
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
		if chunk, open := p.pending[key]; open && chunk.id == result.value.ChunkID {
			delete(p.pending, key)
			p.counts.Done++
			p.tell(p.counts)
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
