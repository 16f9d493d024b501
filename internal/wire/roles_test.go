package wire_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	rightsBegin = "<!-- the account, made by WEIR_UPDATE_DOCS=1 go test ./internal/wire -run Documentation -->\n```conf\n"
	rightsEnd   = "```\n<!-- end of the account -->"
	createBegin = "<!-- the rights to create -->\n```text\n"
	createEnd   = "```\n<!-- end of the rights to create -->"
	steerBegin  = "<!-- the rights to steer -->\n```text\n"
	steerEnd    = "```\n<!-- end of the rights to steer -->"
)

// TestDocumentationHasTheRightsOfEveryRole: what people copy is what is tested.
func TestDocumentationHasTheRightsOfEveryRole(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "security.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	n := names(t, "")
	list := func(subjects []string) string { return "\"" + strings.Join(subjects, "\"\n\"") + "\"\n" }
	want := string(text)
	for _, part := range []struct{ begin, end, text string }{{rightsBegin, rightsEnd, n.AccountConfig()}, {createBegin, createEnd, list(n.RightsToCreate())}, {steerBegin, steerEnd, list(n.RightsToSteer())}} {
		before, rest, found := strings.Cut(want, part.begin)
		require.True(t, found, part.begin)
		_, after, found := strings.Cut(rest, part.end)
		require.True(t, found, part.end)
		want = before + part.begin + part.text + part.end + after
	}
	if os.Getenv("WEIR_UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "run WEIR_UPDATE_DOCS=1 go test ./internal/wire -run Documentation")
}

// Every name in a right is of the namespace, so that fleets of one account can be
// kept apart.
func TestRightsAreOfTheNamespace(t *testing.T) {
	n, err := wire.NewNames("Team-7")
	require.NoError(t, err)
	var all []string
	for _, role := range wire.Roles() {
		r := n.RightsOf(role)
		require.NotEmpty(t, r.Publish)
		require.Contains(t, r.Subscribe, "_INBOX_"+string(role)+".>")
		all = append(all, r.Publish...)
		for _, subject := range r.Subscribe {
			if !strings.HasPrefix(subject, "_INBOX_") {
				all = append(all, subject)
			}
		}
	}
	for _, subject := range append(append(all, n.RightsToCreate()...), n.RightsToSteer()...) {
		if subject == "$JS.API.INFO" {
			continue // of the account
		}
		require.NotContains(t, strings.ToLower(subject), "weir", subject)
		require.Contains(t, strings.ToLower(subject), "team-7", subject)
	}
}

// Nobody may delete a stream or take messages out of one, but for dead letters that
// are sent again and what a check has written.
func TestNoRoleMayDestroy(t *testing.T) {
	n := names(t, "")
	for _, role := range wire.Roles() {
		for _, subject := range n.RightsOf(role).Publish {
			require.NotContains(t, subject, "STREAM.DELETE")
			require.False(t, strings.HasPrefix(subject, ">") || strings.HasPrefix(subject, "*") || subject == "$JS.API.>", subject)
			if strings.Contains(subject, "PURGE") {
				require.Equal(t, wire.RoleWorker, role)
			}
			if strings.Contains(subject, "MSG.DELETE") {
				require.Equal(t, wire.RoleOperator, role)
				require.Equal(t, "$JS.API.STREAM.MSG.DELETE.WEIR_DEAD", subject)
			}
		}
	}
}
