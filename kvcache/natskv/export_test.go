package natskv

// AskReplicas makes c read from whoever answers, also where the bucket says that
// only the leader does.
func (c *Cache) AskReplicas() { c.direct.Store(true) }
