package natskv

// AskReplicas makes c read from whoever answers, also where the bucket says that
// only the leader does.
func (c *Cache) AskReplicas() { c.direct.Store(true) }

// SurveyAtMost lowers [MostSurveyed] for one survey.
func SurveyAtMost(s *Survey, n uint64) { s.most = n }
