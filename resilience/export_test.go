package resilience

// Period names the period of the circuit that the permit was given in.
func (p Permit) Period() uint64 { return p.period }
