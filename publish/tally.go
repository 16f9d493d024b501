package publish

import (
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// tally gathers what became of one document's chunks.
type tally struct {
	results []settled
	dead    []settled
}

// settled is the fate of one chunk of one version of a document.
type settled struct {
	index, total int
	chunk        string
	accepted     time.Time // when the fleet was given the chunk
	at           time.Time // when it was settled
	kind         string    // of a dead letter
	partial      bool
	usage        extraction.Usage
}

func (t *tally) addResult(r stored[wire.Result]) {
	t.results = append(t.results, settled{
		index: r.value.Index, total: r.value.Total, chunk: r.value.ChunkID,
		accepted: r.accepted, at: r.value.FinishedAt,
		partial: r.value.Status == extraction.StatusPartial, usage: r.value.Usage,
	})
}

func (t *tally) addDead(d stored[Dead]) {
	t.dead = append(t.dead, settled{
		index: d.value.Index, total: d.value.Total, chunk: d.value.ChunkID,
		accepted: d.accepted, at: d.value.FailedAt, kind: d.value.Kind,
	})
}

// version says which chunks belong to the newest version of the document: those
// with total. Chunks that were sent without a total carry index+1; of these
// every one counts, total is the largest, and given is false.
func version(chunks []settled) (total int, given bool, counts func(settled) bool) {
	var newest settled
	for _, c := range chunks {
		given = given || c.total != c.index+1
		if newest.total == 0 || c.accepted.After(newest.accepted) {
			newest = c
		}
		total = max(total, c.total)
	}
	if !given {
		return total, given, func(settled) bool { return true }
	}
	return newest.total, given, func(c settled) bool { return c.total == newest.total }
}

// status sums up; any is false if there is nothing to say. waiting is how many
// chunks of the tenant wait: if nobody said how many a document has, those below
// its highest index are only expected as long as they may be among these.
func (t *tally) status(id string, waiting uint64) (status DocumentStatus, any bool) {
	all := append(append([]settled(nil), t.results...), t.dead...)
	total, given, counts := version(all)
	status = DocumentStatus{DocumentID: id, Dead: map[string]int{}}
	done := map[int]settled{}
	for _, r := range t.results {
		if counts(r) {
			done[r.index] = r // one per index: the stream keeps the newest
		}
	}
	lost := map[int]settled{}
	for _, d := range t.dead {
		result, ok := done[d.index]
		// A result outweighs the dead letters of its chunk: it was replayed.
		overtaken := ok && (result.chunk == d.chunk || result.at.After(d.at))
		if counts(d) && !overtaken && !lost[d.index].at.After(d.at) {
			lost[d.index] = d
		}
	}
	for index, d := range lost {
		delete(done, index)
		status.Dead[d.kind]++
		status.touch(d.at)
	}
	for _, r := range done {
		status.Done++
		if r.partial {
			status.Partial++
		}
		status.Usage.PromptTokens += r.usage.PromptTokens
		status.Usage.CompletionTokens += r.usage.CompletionTokens
		status.touch(r.at)
	}
	settled := len(done) + len(lost)
	status.Waiting = max(0, total-settled)
	if !given && uint64(status.Waiting) > waiting {
		status.Waiting = int(waiting)
	}
	status.Chunks = settled + status.Waiting
	return status, len(all) > 0
}

func (d *DocumentStatus) touch(at time.Time) {
	if at.After(d.UpdatedAt) {
		d.UpdatedAt = at
	}
}
