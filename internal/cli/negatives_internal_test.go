package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A negative value belongs to the flag before it, which refuses it in its own words.
func TestNegativeValuesBelongToTheirFlag(t *testing.T) {
	require.Equal(t, []string{"run", "--rpm=-5"}, negatives([]string{"run", "--rpm", "-5"}))
	require.Equal(t, []string{"pause", "--for=-1h", "acme"}, negatives([]string{"pause", "--for", "-1h", "acme"}))
	same := []string{"publish", "-", "--tenant=a", "-5", "--wait", "-h", "--", "--rpm", "-5"}
	require.Equal(t, same, negatives(same))
}
