// Package cachetest states what the Cache port of kvcache promises, as tests
// that every adapter must pass. For an adapter of your own:
//
//	func TestMyCache(t *testing.T) {
//		cachetest.Run(t, func(t *testing.T) kvcache.Cache {
//			return mycache.Open(t.Context(), address)
//		})
//	}
//
// [RunVersioned], [RunLedger] and [RunWatcher] do the same for the optional
// capabilities; they skip where the cache does not have them.
//
// Expiry is tested without trusting any sleep. If the cache under test has a
// method Advance(time.Duration), see [Advancer], the suite moves its clock and
// takes no time. Otherwise it reads again and again until the value is gone, and
// judges by when each read began and ended: a value may not vanish before its
// time, nor be seen by a read that began later than [Grace] after it. A slow
// machine makes the suite slower, not wrong.
package cachetest
