package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// topOrder is what tenants are sorted by.
type topOrder string

const (
	byWaiting topOrder = "waiting"
	byUsed    topOrder = "used"
	byWait    topOrder = "wait"
	byFlight  topOrder = "flight"
	byResults topOrder = "results"
	byDead    topOrder = "dead"
	byName    topOrder = "name"
)

// orderKeys are pressed to sort.
var orderKeys = map[rune]topOrder{'b': byWaiting, 'u': byUsed, 'w': byWait, 'f': byFlight, 'r': byResults, 'd': byDead, 'n': byName}

// sorted are the tenants that have filter in their name, most first, and by name
// where they are alike.
func (o topOrder) sorted(tenants []overview.Tenant, filter string, at time.Time) []overview.Tenant {
	filter = strings.ToLower(filter)
	var chosen []overview.Tenant
	for _, t := range tenants {
		if filter == "" || strings.Contains(strings.ToLower(t.Tenant), filter) {
			chosen = append(chosen, t)
		}
	}
	weight := o.weight(at)
	slices.SortStableFunc(chosen, func(a, b overview.Tenant) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a.Tenant, b.Tenant))
	})
	return chosen
}

func (o topOrder) weight(at time.Time) func(overview.Tenant) float64 {
	switch o {
	case byUsed:
		return usedShare
	case byWait:
		return func(t overview.Tenant) float64 {
			switch {
			case t.WaitReason == overview.NotWaiting:
				return -1
			case t.WaitUntil == nil:
				return math.MaxFloat64 // who knows for how long
			}
			return max(0, t.WaitUntil.Sub(at).Seconds())
		}
	case byFlight:
		return func(t overview.Tenant) float64 { return float64(t.InFlight) }
	case byResults:
		return func(t overview.Tenant) float64 {
			if t.Results == nil {
				return -1
			}
			return float64(*t.Results)
		}
	case byDead:
		return func(t overview.Tenant) float64 { return float64(t.Dead) }
	case byName:
		return func(overview.Tenant) float64 { return 0 }
	}
	return func(t overview.Tenant) float64 { return float64(t.Waiting) + float64(t.DocumentsWaiting) }
}

// usedShare is the larger part of the two allowances that is used, -1 if neither is
// known.
func usedShare(t overview.Tenant) float64 {
	share := -1.0
	if t.Used != nil && t.RPM > 0 {
		share = float64(*t.Used) / float64(t.RPM)
	}
	if t.UsedTokens != nil && t.TPM > 0 {
		share = max(share, float64(*t.UsedTokens)/float64(t.TPM))
	}
	return share
}
