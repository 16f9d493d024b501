package wire

import (
	"crypto/rand"
	"regexp"
	"strings"
)

// NewProbe is a name that nobody else uses, for the circuit and the tenants on which
// worker check proves things.
func NewProbe() string { return "check-" + strings.ToLower(rand.Text()[:12]) }

var probe = regexp.MustCompile(`^check-[a-z2-7]{12}(-b)?$`)

// IsProbe reports names of [NewProbe], and what a check makes of them. Views of the
// fleet do not show them.
func IsProbe(name string) bool { return probe.MatchString(name) }
