package natskv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// MostSurveyed is how many new entries of a log a [Survey] reads at one look at most.
// A log that has more to say than that is being used faster than it is worth
// looking at.
const MostSurveyed = 100_000

// ErrSurveyTooLarge is returned by [Survey.Look] for a log with more than
// [MostSurveyed] entries that are new. The next look begins anew.
var ErrSurveyTooLarge = errors.New("natskv: the ledger has too many entries to be looked at")

// Survey tells what the windows of all keys of a bucket's ledger hold, for whoever
// shows it to people. It takes no part: it creates and writes nothing, follows no
// key, and reads each entry of the log once. What it says is as of the last
// [Survey.Look] and may lack the latest entries. Not safe for concurrent use.
type Survey struct {
	c     *client
	log   *natsLog
	born  time.Time
	next  uint64 // sequence from which on nothing has been read
	there bool   // there is a log
	most  uint64 // MostSurveyed
	keys  map[string]*surveyed
}

type surveyed struct {
	window ledger.Window
	keep   time.Duration
}

// NewSurvey returns a survey that knows nothing before the first look. The bucket
// need not exist.
func NewSurvey(js jetstream.JetStream, bucket string) (*Survey, error) {
	if js == nil {
		return nil, errors.New("natskv: js is nil")
	}
	if !bucketName.MatchString(bucket) {
		return nil, fmt.Errorf("natskv: bucket %q, has to be of letters, digits, - and _", bucket)
	}
	c := newClient(js, bucket, options{})
	return &Survey{c: c, log: newNatsLog(c), most: MostSurveyed, keys: map[string]*surveyed{}}, nil
}

// Look reads what is new in the log. It costs one small request, and another for
// each 4,096 entries. A log that does not exist holds nothing. After an error
// nothing is known, and the next look begins anew.
func (s *Survey) Look(ctx context.Context) error {
	err := s.look(ctx)
	if err != nil {
		s.begin(time.Time{})
	}
	return err
}

func (s *Survey) look(ctx context.Context) error {
	before := s.c.clock.elapsed()
	stream, err := s.c.js.Stream(ctx, s.log.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s.begin(time.Time{})
		return nil
	}
	if err != nil {
		return failed(ctx, err)
	}
	info := stream.CachedInfo()
	s.c.clock.sent(info.TimeStamp.UnixNano(), before)
	if !s.there || !info.Created.Equal(s.born) || info.State.LastSeq+1 < s.next {
		s.begin(info.Created)
		s.there = true
	}
	from := max(s.next, info.State.FirstSeq, 1)
	if last := info.State.LastSeq; last >= from && min(last-from+1, info.State.Msgs) > s.most {
		return ErrSurveyTooLarge
	}
	s.next = from
	for s.next <= info.State.LastSeq { // what a replica that lags behind does not have yet is read at the next look
		left, err := s.c.readBatch(ctx, s.log.stream, s.log.subject+"*", s.next, s.take)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
	}
	s.drop()
	return nil
}

func (s *Survey) begin(born time.Time) {
	s.born, s.next, s.there = born, 0, false
	clear(s.keys)
}

// take adds one entry of any key.
func (s *Survey) take(m *nats.Msg) error {
	seq, stamp, _, err := position(m.Header)
	if err != nil {
		return err
	}
	name, ok := strings.CutPrefix(m.Header.Get(headerSubject), s.log.subject)
	if !ok || seq < s.next {
		return nil
	}
	s.next = seq + 1
	key := s.keys[name]
	if key == nil {
		key = &surveyed{}
		s.keys[name] = key
	}
	// An entry lives as long as it may matter to anybody.
	if deadline := deadlineOf(m.Header, stamp); deadline == endless {
		key.keep = kvcache.MaxWindow
	} else {
		key.keep = max(key.keep, time.Duration(deadline-stamp))
	}
	key.window.Keep(key.keep)
	decodeEntry(m.Data).apply(&key.window, seq, stamp)
	return nil
}

// drop forgets the keys of which nothing is left.
func (s *Survey) drop() {
	now := s.c.clock.now()
	for name, key := range s.keys {
		if key.window.Empty(now) {
			delete(s.keys, name)
		}
	}
}

// There reports whether there was a log at the last look.
func (s *Survey) There() bool { return s.there }

// Keys are the keys that have anything in their windows, in no order. Keys so long
// that a hash stands for them are left out.
func (s *Survey) Keys() []string {
	var keys []string
	for token := range s.keys {
		if key, ok := keyOfToken(token); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// Standing is what the window of a key holds under that quota, and for how much
// longer a cool-down refuses everything, 0 if none does.
func (s *Survey) Standing(key string, q kvcache.Quota) (standing kvcache.Standing, cooling time.Duration, err error) {
	if err := q.Check(); err != nil {
		return kvcache.Standing{}, 0, err
	}
	k := s.keys[subjectToken(key)]
	if k == nil {
		return kvcache.Standing{}, 0, nil
	}
	now := max(s.c.clock.now(), k.window.Latest())
	standing.Requests, standing.Tokens = k.window.Held(now, padded(q).Window)
	if opens := k.window.Opens(now, padded(q), 0); opens > now {
		standing.RetryAfter = time.Duration(opens - now)
	}
	if k.window.Cooling(now) {
		cooling = time.Duration(k.window.Opens(now, ledger.Quota{Window: q.Window}, 0) - now)
	}
	return standing, cooling, nil
}
