package main

import (
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// model is the model server: it counts every call, knows whose it is, and behaves
// as the scenario wants at the moment.
type model struct {
	*modelserver.Server

	mu      sync.Mutex
	behave  func(modelserver.Request) modelserver.Behaviour
	workers map[int]string // by number of the call
}

func startModel() (*model, error) {
	server, err := modelserver.New(modelserver.Options{})
	if err != nil {
		return nil, err
	}
	m := &model{Server: server, workers: map[int]string{}}
	server.Decide(m.decide)
	return m, nil
}

func (m *model) decide(r modelserver.Request) modelserver.Behaviour {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.workers[r.Seq] = r.Key
	if m.behave == nil {
		return modelserver.Behaviour{}
	}
	return m.behave(r)
}

// behaves says what is done with calls from now on. The function must be quick and
// is called for one at a time.
func (m *model) behaves(f func(modelserver.Request) modelserver.Behaviour) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.behave = f
}

// takes answers truthfully after so long.
func (m *model) takes(d time.Duration) {
	m.behaves(func(modelserver.Request) modelserver.Behaviour { return modelserver.Behaviour{}.WithDelay(d) })
}

// requests is how many have come.
func (m *model) requests() int { return m.Stats().Requests }

// calls are all that have come, oldest first.
func (m *model) calls() []call {
	records := m.Records()
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := make([]call, 0, len(records))
	for _, r := range records {
		calls = append(calls, call{of: chunkOf(r.Text), worker: m.workers[r.Seq], at: r.At, done: r.Done, status: r.Status})
	}
	return calls
}

// arrivals are the times of calls for a tenant; "" is every one.
func arrivals(calls []call, tenant string) []time.Time {
	var times []time.Time
	for _, c := range calls {
		if tenant == "" || c.of.tenant == tenant {
			times = append(times, c.at)
		}
	}
	return times
}
