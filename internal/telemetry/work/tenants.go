package work

import "sync"

// OtherTenants is the label of all tenants beyond the cap.
const OtherTenants = "other"

// tenants gives the first ones that come along a label of their own, so that the
// number of series has a bound whoever publishes.
type tenants struct {
	most  int // 0: tenants are not told apart
	mu    sync.RWMutex
	known map[string]struct{}
}

func newTenants(most int) *tenants { return &tenants{most: most, known: map[string]struct{}{}} }

// name of the label; "" if there is none.
func (t *tenants) name() string {
	if t.most == 0 {
		return ""
	}
	return tenantKey
}

// label of a tenant; "" if there is none.
func (t *tenants) label(tenant string) string {
	if t.most == 0 {
		return ""
	}
	t.mu.RLock()
	_, ok := t.known[tenant]
	full := len(t.known) >= t.most
	t.mu.RUnlock()
	switch {
	case ok:
		return tenant
	case full:
		return OtherTenants
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= t.most {
		return OtherTenants
	}
	t.known[tenant] = struct{}{}
	return tenant
}
