package natskv

// AskReplicas makes c read from whoever answers, also where the bucket says that
// only the leader does.
func (c *Cache) AskReplicas() { c.direct.Store(true) }

// AsksReplicas says whether c reads from whoever answers.
func (c *Cache) AsksReplicas() bool { return c.direct.Load() }

// SurveyAtMost lowers [MostSurveyed] for one survey.
func SurveyAtMost(s *Survey, n uint64) { s.most = n }
