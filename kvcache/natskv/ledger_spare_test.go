package natskv

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// newSparing returns two processes that hear from the server within a
// millisecond, the first of which has spares of q, and what it has been told so far.
func newSparing(t *testing.T, s *simServer, q kvcache.Quota) (c, other *simClient, told []outcome) {
	c, other = newSimClient(s, simFaults{}, 1), newSimClient(s, simFaults{}, 2)
	t.Cleanup(c.book.close)
	t.Cleanup(other.book.close)
	c.most, other.most = time.Millisecond, time.Millisecond
	for sparesOf(c) == 0 || len(told) < 30 {
		told = append(told, askSim(t, s, c, q)...)
	}
	return c, other, told
}

// askSim asks once, and returns what was admitted, if it was.
func askSim(t *testing.T, s *simServer, c *simClient, q kvcache.Quota) []outcome {
	asked := s.now()
	a, err := c.admit(t.Context(), q, 0, time.Second)
	require.NoError(t, err)
	if !a.Admitted {
		return nil
	}
	return []outcome{{simKey, a.ID, q, 0, asked, s.now()}}
}

func sparesOf(c *simClient) int {
	tail := c.book.tails[simKey]
	if tail == nil {
		return 0
	}
	tail.mu.Lock()
	defer tail.mu.Unlock()
	return len(tail.spares.ids)
}

// Spares are for those who ask for just that, while nothing speaks against it,
// and what nobody wants is given back.
func TestSparesAreHandedOutOrGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simServer{feeds: map[*simFeed]string{}}
		q := kvcache.Quota{Window: 20 * time.Second, Requests: 1280}
		c, other, told := newSparing(t, s, q)
		have, entries := sparesOf(c), s.seq
		told = append(told, askSim(t, s, c, q)...)
		require.Equal(t, have-1, sparesOf(c))
		require.Equal(t, entries, s.seq, "nobody was asked")

		changed := q
		changed.Requests--
		told = append(told, askSim(t, s, c, changed)...)
		require.Equal(t, have-1, sparesOf(c))
		require.Equal(t, entries+1, s.seq, "a limit that has changed is asked for")

		require.NoError(t, c.book.say(t.Context(), simKey, note{kind: cool, span: 30 * time.Millisecond}))
		require.Empty(t, askSim(t, s, c, q), "a cool-down holds for spares too")
		require.Equal(t, have-1, sparesOf(c))

		time.Sleep(2 * mostSlack)
		require.Zero(t, sparesOf(c))
		standing, err := other.book.peek(t.Context(), simKey, q)
		require.NoError(t, err)
		require.EqualValues(t, len(told), standing.Requests)
	})
}

// R18 for the moments at which callers are told: a spare that is used at the end of its
// time counts until a window after that.
func TestR18SparesCountFromTheirUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simServer{feeds: map[*simFeed]string{}}
		q := kvcache.Quota{Window: 20 * time.Second, Requests: 128}
		c, other, told := newSparing(t, s, q)
		time.Sleep(spareLife(q.Window) - 10*time.Millisecond)
		used := s.now()
		require.Positive(t, sparesOf(c))
		for sparesOf(c) > 0 {
			told = append(told, askSim(t, s, c, q)...)
		}
		for {
			more := askSim(t, s, other, q)
			if told = append(told, more...); more == nil {
				break
			}
		}
		require.Len(t, told, int(q.Requests))
		for s.now() < used+int64(q.Window)+int64(mostSlack) {
			told = append(told, askSim(t, s, other, q)...)
			time.Sleep(time.Millisecond)
		}
		require.Greater(t, len(told), int(q.Requests))
		require.Empty(t, verdict(s, told))
	})
}

// R18 for an observer at the model server: calls that take up to one percent of
// the window longer to get there than others are within the quota there too, and
// where there are spares half of that.
func TestR18SlackCoversTheWay(t *testing.T) {
	for window, way := range map[time.Duration]time.Duration{5 * time.Second: 50 * time.Millisecond, 20 * time.Second: 200 * time.Millisecond, time.Hour: 250 * time.Millisecond} {
		for requests, jitter := range map[int64]time.Duration{50: way, 640: way / 2} {
			synctest.Test(t, func(t *testing.T) {
				s := &simServer{feeds: map[*simFeed]string{}}
				c := newSimClient(s, simFaults{}, 1)
				defer c.book.close()
				c.most = time.Millisecond
				q := kvcache.Quota{Window: window, Requests: requests}
				var told []int64
				for len(told) < 2*int(requests) {
					a, err := c.admit(t.Context(), q, 0, time.Second)
					require.NoError(t, err)
					if a.Admitted {
						told = append(told, s.now())
						time.Sleep(spareLife(window) / 10) // spares are used late
					} else {
						time.Sleep(a.RetryAfter)
					}
				}
				for i := int(requests); i < len(told); i++ {
					apart := time.Duration(told[i] - told[i-int(requests)])
					require.GreaterOrEqual(t, apart, window+jitter-2*time.Millisecond, "%v, admission %d of %d", window, i, requests)
				}
				require.Less(t, time.Duration(told[requests]-told[0]), window+window/50, "and not much later")
			})
		}
	}
}

// A key that nobody asks about any more is not followed any more.
func TestIdleKeysAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simServer{feeds: map[*simFeed]string{}}
		c := newSimClient(s, simFaults{}, 1)
		defer c.book.close()
		q := kvcache.Quota{Window: time.Minute, Requests: 2}
		require.NotEmpty(t, askSim(t, s, c, q))
		time.Sleep(time.Minute)
		for range 20 {
			require.NoError(t, c.book.say(t.Context(), "other", note{kind: cool, span: time.Millisecond}))
		}
		require.Len(t, c.book.tails, 2, "it may still be asked about within two windows")
		time.Sleep(2 * time.Minute)
		for range 20 {
			require.NoError(t, c.book.say(t.Context(), "other", note{kind: cool, span: time.Millisecond}))
		}
		require.Len(t, c.book.tails, 1)
		require.Len(t, s.feeds, 1)
		require.NotEmpty(t, askSim(t, s, c, q), "and may be asked about again")
	})
}
