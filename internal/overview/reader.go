package overview

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// DefaultMaxTenants is how many tenants a [Fleet] lists at most.
const DefaultMaxTenants = 1000

// Config configures a [Reader].
type Config struct {
	JetStream jetstream.JetStream // required; stays the caller's
	Names     wire.Names          // required
	// MaxTenants bounds [Fleet.Tenants]. Default: [DefaultMaxTenants].
	MaxTenants int
	// Tenant, if not empty, is the only one that is looked at, whether or not
	// anything is known of it. Totals are of the whole fleet none the less.
	Tenant string
	// Clock tells [Fleet.At]. Default: time.Now.
	Clock func() time.Time
}

// Reader reads a fleet again and again, and remembers what has not changed. Safe for
// concurrent use; reads take turns.
type Reader struct {
	js    jetstream.JetStream
	names wire.Names
	api   string // prefix of JetStream API subjects
	most  int    // tenants
	few   uint64 // fewResults
	only  string // token of the only tenant, or ""
	clock func() time.Time

	mu                      sync.Mutex
	chunks, documents, dead queue
	results                 results
	workersBucket           *follow.Bucket
	workers                 []Worker
	strangers               int // in the bucket of the workers
	circuitBucket           *follow.Bucket
	circuits                []Circuit
	limitsBucket            *follow.Bucket
	own                     map[string][]byte // limits of tenants, by token
	pauses                  *pauses.Follower
	survey                  *natskv.Survey
	surveyed                bool // the ledger could be read
	letters                 []DeadKind
	lettersOf               mark // the state of the stream that letters are of
}

// NewReader returns a reader, or a [*ConfigError].
func NewReader(c Config) (*Reader, error) {
	switch {
	case c.JetStream == nil:
		return nil, &ConfigError{"JetStream", "is required"}
	case c.Names.Namespace() == "":
		return nil, &ConfigError{"Names", "is required"}
	case c.MaxTenants < 0:
		return nil, &ConfigError{"MaxTenants", "must not be negative"}
	}
	r := &Reader{js: c.JetStream, names: c.Names, api: wire.APIPrefix(c.JetStream), most: c.MaxTenants, few: fewResults, clock: c.Clock}
	if r.most == 0 {
		r.most = DefaultMaxTenants
	}
	if r.clock == nil {
		r.clock = time.Now
	}
	if c.Tenant != "" {
		r.only = wire.EncodeToken(c.Tenant)
	}
	survey, err := natskv.NewSurvey(r.js, r.names.RateLimitBucket())
	if err != nil {
		return nil, err
	}
	r.survey = survey
	r.workersBucket = follow.NewBucket(r.js, r.names.WorkersBucket())
	r.circuitBucket = follow.NewBucket(r.js, r.names.CircuitBucket())
	r.limitsBucket = follow.NewBucket(r.js, r.names.LimitsBucket())
	r.pauses = pauses.NewFollower(r.js, r.names, nil)
	return r, nil
}

// Read says how the fleet stands. Its parts are read one after the other, and may
// be some milliseconds apart. The error is a [*ReadError].
func (r *Reader) Read(ctx context.Context) (Fleet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, look := range []func(context.Context) error{
		r.lookAtQueues, r.lookAtWorkers, r.lookAtCircuits, r.lookAtOperators, r.lookAtLedger, r.lookAtResults, r.lookAtLetters,
	} {
		if err := look(ctx); err != nil {
			return Fleet{}, err
		}
	}
	paused := r.pauses.All()
	rows := r.gather(paused)
	listed := first(rows, r.most)
	if err := r.countFlight(ctx, listed); err != nil {
		return Fleet{}, err
	}
	if err := r.countResults(ctx, listed); err != nil {
		return Fleet{}, err
	}
	return r.fleet(listed, len(rows), paused), nil
}

func (r *Reader) lookAtQueues(ctx context.Context) (err error) {
	if r.chunks, err = r.countQueue(ctx, r.names.ChunkStream(), r.names.ChunkFilter(), r.chunks); err != nil {
		return err
	}
	if r.documents, err = r.countQueue(ctx, r.names.DocumentStream(), r.names.DocumentFilter(), r.documents); err != nil {
		return err
	}
	r.dead, err = r.countQueue(ctx, r.names.DeadStream(), r.names.DeadFilter(), r.dead)
	return err
}

// lookAtOperators reads what operators have set.
func (r *Reader) lookAtOperators(ctx context.Context) error {
	reading, err := r.limitsBucket.Look(ctx)
	if err != nil {
		return &ReadError{"bucket " + r.names.LimitsBucket(), err}
	}
	if reading.Fresh {
		r.own = make(map[string][]byte, len(reading.Entries))
		for _, got := range reading.Entries {
			if _, err := wire.DecodeToken(got.Key); err == nil {
				r.own[got.Key] = got.Value
			}
		}
	}
	if _, err := r.pauses.Look(ctx); err != nil {
		return &ReadError{"bucket " + r.names.PauseBucket(), err}
	}
	return nil
}

func (r *Reader) lookAtLedger(ctx context.Context) error {
	err := r.survey.Look(ctx)
	r.surveyed = err == nil
	if errors.Is(err, natskv.ErrSurveyTooLarge) {
		return nil
	}
	if err != nil {
		return &ReadError{"the ledger of " + r.names.RateLimitBucket(), err}
	}
	return nil
}

func (r *Reader) fleet(listed []*row, total int, paused []pauses.Pause) Fleet {
	f := Fleet{
		At: r.clock().UTC().Truncate(time.Millisecond), Workers: append([]Worker{}, r.workers...), UnreadableWorkers: r.strangers, Circuits: append([]Circuit{}, r.circuits...),
		Disagreements: append([]Disagreement{}, alive.Disagreements(r.workers)...),
		Tenants:       make([]Tenant, 0, len(listed)), TenantsTotal: total, Truncated: len(listed) < total,
		Dead: append([]DeadKind{}, r.letters...), Pauses: make([]Pause, 0, len(paused)),
	}
	ends := make(map[string]time.Time, len(paused))
	for _, p := range paused {
		shown := Pause{Tenant: p.Tenant, Fleet: p.Fleet, Until: &p.Until, Reason: p.Reason}
		if p.Fleet {
			shown.Tenant = "*"
		}
		f.Pauses, ends[p.Key()] = append(f.Pauses, shown), p.Until
	}
	base, open := r.base(), r.open()
	for _, t := range listed {
		r.allow(t, base, ends, open, f.At)
		f.Tenants = append(f.Tenants, t.Tenant)
		f.Totals.InFlight += t.InFlight
	}
	f.Totals = Totals{
		InFlight: f.Totals.InFlight,
		Waiting:  r.chunks.mark.count, DocumentsWaiting: r.documents.mark.count,
		Results: r.results.mark.count, Dead: r.dead.mark.count,
	}
	return f
}
