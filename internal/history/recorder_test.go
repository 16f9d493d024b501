package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/history"
	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fleet is a server with a recorder whose clock the test sets.
type fleet struct {
	t     *testing.T
	js    jetstream.JetStream
	names wire.Names
	now   time.Time
	*history.Recorder
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	names, err := wire.NewNames("")
	require.NoError(t, err)
	f := &fleet{t: t, js: natstest.JetStream(t), names: names, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	f.Recorder, err = history.New(history.Config{JetStream: f.js, Names: names, Clock: func() time.Time { return f.now }})
	require.NoError(t, err)
	return f
}

func (f *fleet) ensure() {
	f.t.Helper()
	require.NoError(f.t, wire.Ensure(f.t.Context(), f.js, f.names))
	_, err := wire.EnsureWorkers(f.t.Context(), f.js, f.names)
	require.NoError(f.t, err)
	_, err = f.js.CreateOrUpdateKeyValue(f.t.Context(), jetstream.KeyValueConfig{Bucket: f.names.CircuitBucket()})
	require.NoError(f.t, err)
}

// sample takes one, ten seconds after the one before, and returns it.
func (f *fleet) sample() history.Sample {
	f.t.Helper()
	f.now = f.now.Add(history.Every)
	require.NoError(f.t, f.Sample(f.t.Context()))
	samples := f.History().Samples
	return samples[len(samples)-1]
}

func (f *fleet) publish(subject, body string, header nats.Header) {
	f.t.Helper()
	_, err := f.js.PublishMsg(f.t.Context(), &nats.Msg{Subject: subject, Data: []byte(body), Header: header})
	require.NoError(f.t, err)
}

func (f *fleet) circuit(key, value string) {
	f.t.Helper()
	bucket, err := f.js.KeyValue(f.t.Context(), f.names.CircuitBucket())
	require.NoError(f.t, err)
	if value == "" {
		require.NoError(f.t, bucket.Delete(f.t.Context(), key))
		return
	}
	_, err = bucket.PutString(f.t.Context(), key, value)
	require.NoError(f.t, err)
}

func of(n uint64) *uint64 { return &n }

func TestWhatIsCounted(t *testing.T) {
	f := newFleet(t)
	began := f.now
	s := f.sample()
	require.Equal(t, history.Sample{At: f.now, Waiting: of(0), Workers: of(0)}, s, "nothing exists, and there is nothing to count from")
	f.ensure()
	f.publish(f.names.ResultSubject("acme", "before", 0), "{}", nil)
	require.Equal(t, of(1), f.sample().Results, "all of a stream that did not exist")
	f.publish(f.names.ChunkSubject("acme"), `{"text":"a"}`, nil)
	f.publish(f.names.DeadSubject("acme"), "x", nil)
	f.publish("$KV."+f.names.WorkersBucket()+".one", "{}", nil)
	for i := range 3 {
		f.publish(f.names.ResultSubject("acme", "d", i), "{}", nil)
	}
	s = f.sample()
	require.Equal(t, []*uint64{of(3), of(1), of(1), of(1)}, []*uint64{s.Results, s.Dead, s.Waiting, s.Workers})
	s = f.sample()
	require.Equal(t, of(0), s.Results)

	require.NoError(t, f.js.DeleteStream(t.Context(), f.names.ResultStream()))
	f.ensure()
	require.Nil(t, f.sample().Results, "of a stream that was made anew it is not known")
	require.Equal(t, of(0), f.sample().Results)
	h := f.History()
	require.Equal(t, began, h.Since)
	require.Equal(t, int64(10_000), h.EveryMS)
	text, err := json.Marshal(h)
	require.NoError(t, err)
	require.Contains(t, string(text), `"samples":[{"at":"2026-01-31T12:00:10Z","results":null,"dead":null,"waiting":0,"workers":0,"took":null,"age":null}`)
	require.Contains(t, string(text), `"circuits":[]`)
}

// tells has a worker say how long all took that it has done.
func (f *fleet) tells(key string, took, age wire.Durations) {
	f.t.Helper()
	f.publish("$KV."+f.names.WorkersBucket()+"."+key, string(wire.WorkerState{Worker: key, Took: took, Age: age}.Encode()), nil)
}

// What the page shows of an interval is of the results of that interval, of all workers.
func TestHowLongChunksTook(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	one, two := wire.Durations{}, wire.Durations{}
	for range 1000 {
		one.Add(time.Hour)
	}
	f.tells("one", one, one)
	s := f.sample()
	require.Nil(t, s.Took, "when they were done is not known")
	f.publish(f.names.ResultSubject("acme", "d", 0), "{}", nil)
	s = f.sample()
	require.Equal(t, of(1), s.Results)
	require.Nil(t, s.Took, "nobody has told of it yet")

	// One goes on, and another has come, has done something, and is gone.
	for range 90 {
		one.Add(2 * time.Second)
	}
	for range 10 {
		two.Add(30 * time.Second)
	}
	f.tells("one", one, one)
	f.tells("two", two, wire.Durations{40: 10})
	s = f.sample()
	require.EqualValues(t, 100, s.Took.Results)
	require.InEpsilon(t, 2000, s.Took.P50MS, 0.1)
	require.InEpsilon(t, 30_000, s.Took.P95MS, 0.1)
	require.InEpsilon(t, 2000, s.Age.P50MS, 0.1)
	require.InEpsilon(t, 2000, s.Age.P95MS, 0.1)

	f.publish(f.names.ResultSubject("acme", "d", 1), "{}", nil)
	s = f.sample()
	require.Nil(t, s.Took, "none of it is new")
	one.Add(500 * time.Millisecond)
	f.tells("one", one, one)
	f.tells("two", wire.Durations{40: 1}, nil) // fewer than before: another one
	f.publish("$KV."+f.names.WorkersBucket()+".three", `{"worker":7}`, nil)
	s = f.sample()
	require.EqualValues(t, 1, s.Took.Results)
	require.InEpsilon(t, 500, s.Took.P95MS, 0.1)

	// While nothing is done, nobody is asked.
	f.sample()
	one.Add(time.Minute)
	f.tells("one", one, one)
	require.Nil(t, f.sample().Took)
	f.publish(f.names.ResultSubject("acme", "d", 2), "{}", nil)
	require.InEpsilon(t, 60_000, f.sample().Took.P50MS, 0.1)
}

// A large fleet, in which every worker keeps a history, is read less often.
func TestALargeFleetIsReadLessOften(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	for i := range 60 {
		f.tells(fmt.Sprint(i), nil, nil)
	}
	f.sample()
	one, read := wire.Durations{}, 0
	for i := range 12 {
		one.Add(time.Second)
		f.tells("0", one, one)
		f.publish(f.names.ResultSubject("acme", "d", i), "{}", nil)
		if took := f.sample().Took; took != nil {
			read++
			require.EqualValues(t, 3, took.Results)
		}
	}
	require.Equal(t, 4, read)
}

func TestOnlyTheLastHourIsKept(t *testing.T) {
	f := newFleet(t)
	f.Note("default", history.Change{At: f.now, State: "closed"})
	f.Note("default", history.Change{At: f.now.Add(10 * time.Minute), State: "open"})
	f.Note("default", history.Change{At: f.now.Add(20 * time.Minute), State: "closed"})
	for range 400 {
		f.sample()
	}
	h := f.History()
	require.LessOrEqual(t, len(h.Samples), 361)
	require.GreaterOrEqual(t, len(h.Samples), 360)
	require.Equal(t, f.now.Add(-time.Hour), h.Since)
	require.Len(t, h.Circuits[0].Changes, 3, "the one that the hour began with, and two in it")
	f.now = f.now.Add(2 * time.Hour)
	h = f.History()
	require.Empty(t, h.Samples)
	require.Equal(t, "closed", h.Circuits[0].Changes[0].State)
	require.Len(t, h.Circuits[0].Changes, 1)
}

func TestCircuits(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	f.circuit("default.state", "open")
	f.circuit("default.reason", "503\nfrom the server")
	f.circuit("other.state", "nonsense")
	f.circuit("default.failures", "7")
	f.sample()
	states := func(name string) (all []string) {
		for _, c := range f.History().Circuits {
			for _, change := range c.Changes {
				if c.Name == name {
					all = append(all, strings.TrimSpace(change.State+" "+change.Reason))
				}
			}
		}
		return all
	}
	require.Equal(t, []string{"open 503 from the server"}, states("default"))
	require.Equal(t, []string{"closed"}, states("other"))
	f.sample()
	f.circuit("default.state", "half_open")
	f.sample()
	f.circuit("default.state", "")
	f.sample()
	require.Equal(t, []string{"open 503 from the server", "half_open", "closed"}, states("default"))

	// Who watches knows better than who samples: what was read before counts no more.
	f.circuit("default.failures", "1") // so that the sample looks
	f.Note("default", history.Change{At: f.now.Add(history.Every + time.Millisecond), State: "open", Reason: "x"})
	f.sample()
	require.Equal(t, "open x", states("default")[3])
	f.circuit("default.failures", "2")
	f.sample()
	require.Equal(t, "closed", states("default")[4], "and a change that it has missed is found")

	// However many there are.
	for i := range 40 {
		f.circuit(fmt.Sprintf("many-%02d.state", i), "open")
	}
	f.sample()
	require.LessOrEqual(t, len(f.History().Circuits), 16)

	// One with a name that cannot be a key is known by it; one that is removed is closed.
	g := newFleet(t)
	g.ensure()
	g.circuit("=_YS9iLnN0YXRl", "open") // a/b.state
	g.sample()
	require.Equal(t, "a/b", g.History().Circuits[0].Name)
	g.circuit("=_YS9iLnN0YXRl", "")
	g.sample()
	require.Equal(t, "closed", g.History().Circuits[0].Changes[1].State)
	for i := range 1000 {
		f.Note("default", history.Change{At: f.now, State: []string{"open", "closed"}[i%2]})
	}
	require.LessOrEqual(t, len(states("default")), 256)
}

func TestASilentServerLeavesAGap(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	f.sample()
	f.js.Conn().Close()
	f.now = f.now.Add(history.Every)
	require.Error(t, f.Sample(t.Context()))
	samples := f.History().Samples
	require.Equal(t, history.Sample{At: f.now}, samples[len(samples)-1])
}

// It samples at once and every ten seconds, says once that it cannot, and ends.
func TestRun(t *testing.T) {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	js.Conn().Close()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r, err := history.New(history.Config{JetStream: js, Names: names, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		time.Sleep(35 * time.Second)
		cancel()
		running.Wait()
		require.Len(t, r.History().Samples, 4)
		require.Equal(t, 1, strings.Count(log.String(), "cannot sample"))
	})
}

func TestConfigIsChecked(t *testing.T) {
	var wrong *history.ConfigError
	_, err := history.New(history.Config{})
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "JetStream", wrong.Field)
	_, err = history.New(history.Config{JetStream: natstest.JetStream(t)})
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Names", wrong.Field)
}
