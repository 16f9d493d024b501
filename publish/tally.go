package publish

import (
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// tally gathers what became of one document's chunks. What it remembers grows
// with the dead letters and with the versions of the document, not with its
// chunks, but for one bit each; only chunks that were sent without a total are
// each a version of their own.
//
// All dead letters must be added before the first result.
type tally struct {
	versions map[int]*sums     // of the results without dead letters, by total
	dead     map[int][]settled // by index
	revived  map[int]settled   // results of chunks that have dead letters, by index
	seen     map[int]uint64    // results, as bits of index/64
	newest   settled           // accepted last
	total    int               // the largest
	given    bool              // somebody said how many chunks there are
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

// sums are what many results say together.
type sums struct {
	done, partial, incomplete int
	usage                     extraction.Usage
	at                        time.Time
}

func (s *sums) add(r settled) {
	s.done++
	if r.partial {
		s.partial++
	}
	if !r.usage.Complete() {
		s.incomplete++
	}
	s.usage = s.usage.Plus(r.usage)
	s.at = later(s.at, r.at)
}

func newTally() *tally {
	return &tally{versions: map[int]*sums{}, dead: map[int][]settled{}, revived: map[int]settled{}, seen: map[int]uint64{}}
}

func (t *tally) addDead(d stored[Dead]) {
	c := settled{
		index: d.value.Index, total: d.value.Total, chunk: d.value.ChunkID,
		accepted: d.accepted, at: d.value.FailedAt, kind: d.value.Kind,
	}
	if d.value.Usage != nil {
		c.usage = *d.value.Usage
	}
	t.version(c)
	t.dead[c.index] = append(t.dead[c.index], c)
}

func fateOf(r stored[wire.Result]) settled {
	return settled{
		index: r.value.Index, total: r.value.Total, chunk: r.value.ChunkID,
		accepted: r.accepted, at: r.value.FinishedAt,
		partial: r.value.Status == extraction.StatusPartial, usage: r.value.Usage,
	}
}

func (t *tally) addResult(c settled) {
	// There is one result per index, but while they are read one may be replaced.
	word, bit := c.index/64, uint64(1)<<(c.index%64)
	if t.seen[word]&bit != 0 {
		return
	}
	t.seen[word] |= bit
	t.version(c)
	if len(t.dead[c.index]) > 0 {
		t.revived[c.index] = c
		return
	}
	if t.versions[c.total] == nil {
		t.versions[c.total] = &sums{}
	}
	t.versions[c.total].add(c)
}

// version learns which chunks belong to the newest version of the document: those
// with its total. Chunks that were sent without a total carry index+1; if there
// are only these, every one counts.
func (t *tally) version(c settled) {
	t.given = t.given || c.total != c.index+1
	if t.newest.total == 0 || c.accepted.After(t.newest.accepted) {
		t.newest = c
	}
	t.total = max(t.total, c.total)
}

func (t *tally) counts(total int) bool { return !t.given || total == t.newest.total }

// progress sums up. waiting is how many chunks of the tenant wait: if nobody said
// how many a document has, those below its highest index are only expected as long
// as they may be among these.
func (t *tally) progress(waiting uint64) Progress {
	var done sums
	for total, s := range t.versions {
		if t.counts(total) {
			done.plus(*s)
		}
	}
	p := Progress{Dead: map[string]int{}}
	lost := 0
	for index, letters := range t.dead {
		result, ok := t.revived[index]
		ok = ok && t.counts(result.total)
		var last *settled
		for i, d := range letters {
			// A result outweighs the dead letters of its chunk: it was replayed.
			overtaken := ok && (result.chunk == d.chunk || result.at.After(d.at))
			if t.counts(d.total) && !overtaken && (last == nil || !last.at.After(d.at)) {
				last = &letters[i]
			}
		}
		switch {
		case last != nil:
			lost++
			p.Dead[last.kind]++
			done.at = later(done.at, last.at)
			done.usage = done.usage.Plus(last.usage)
		case ok:
			done.add(result)
		}
	}
	p.Done, p.Partial, p.UsageIncomplete, p.Usage, p.UpdatedAt = done.done, done.partial, done.incomplete, done.usage, done.at
	total := t.total
	if t.given {
		total = t.newest.total
	}
	p.Waiting = max(0, total-p.Done-lost)
	if !t.given && uint64(p.Waiting) > waiting {
		p.Waiting = int(waiting)
	}
	p.Chunks = p.Done + lost + p.Waiting
	return p
}

func (s *sums) plus(o sums) {
	s.done, s.partial, s.incomplete = s.done+o.done, s.partial+o.partial, s.incomplete+o.incomplete
	s.usage, s.at = s.usage.Plus(o.usage), later(s.at, o.at)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
