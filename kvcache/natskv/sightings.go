package natskv

import "sync"

// sighting is what this process knows of the last message of a key.
type sighting struct {
	seq      uint64
	deadline int64
	complete bool // deadline is known
}

// sightings remembers the last message of the keys that were used most
// recently. A replica may answer from a past that this process has already left;
// its answer is then recognised and the leader is asked. Safe for concurrent
// use.
type sightings struct {
	mu          sync.Mutex
	young, aged map[string]sighting // what was not used while young filled up is dropped
}

// sightingsKept is how many keys are remembered at least.
const sightingsKept = 4096

func newSightings() *sightings {
	return &sightings{young: make(map[string]sighting)}
}

func (s *sightings) last(name string) (sighting, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(name)
}

func (s *sightings) find(name string) (sighting, bool) {
	known, ok := s.young[name]
	if !ok {
		known, ok = s.aged[name]
	}
	return known, ok
}

// note remembers a message unless a later one is known.
func (s *sightings) note(name string, now sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.find(name)
	if !ok || now.seq > known.seq || now.seq == known.seq && now.complete {
		s.store(name, now)
	}
}

// doubt remembers that there is a message after seq.
func (s *sightings) doubt(name string, seq uint64) { s.note(name, sighting{seq: seq + 1}) }

// correct takes the leader's word for what was known before it was asked. A seq
// of 0 is a key that does not exist.
func (s *sightings) correct(name string, before, now sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, _ := s.find(name); known.seq > before.seq {
		return // somebody has learnt more meanwhile
	}
	if now.seq == 0 {
		delete(s.young, name)
		delete(s.aged, name)
		return
	}
	s.store(name, now)
}

// forget drops all of them.
func (s *sightings) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.young, s.aged = make(map[string]sighting), nil
}

func (s *sightings) store(name string, now sighting) {
	if len(s.young) >= sightingsKept {
		s.aged, s.young = s.young, make(map[string]sighting, sightingsKept/4)
	}
	s.young[name] = now
}
