package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// guarded is a server with the account of docs/security.md.
type guarded struct {
	t   *testing.T
	url string // without a user
	srv *server.Server
	log *violations

	config string // file
}

// accountOf is the configuration that docs/security.md tells people to copy.
func accountOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```conf\naccounts {")
	require.True(t, found)
	account, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	return "accounts {" + account
}

// roles are the users of the account, with a password each.
var roles = []string{"sender", "publisher", "worker", "viewer", "operator"}

func passwordOf(role string) string { return "s3cret-of-" + role }

// guard starts the server; change may widen or narrow the account.
func guard(t *testing.T, change func(account string) string) *guarded {
	t.Helper()
	account := accountOf(t)
	for _, role := range roles {
		account = strings.Replace(account, "$"+strings.ToUpper(role)+"_PASSWORD", fmt.Sprintf("%q", passwordOf(role)), 1)
	}
	if change != nil {
		account = change(account)
	}
	dir := t.TempDir()
	// The administrator is the test itself: it looks everywhere.
	account = strings.Replace(account, "users: [", `users: [ { user: "test", password: "test" }`, 1)
	config := filepath.Join(dir, "nats.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "host: 127.0.0.1\nport: -1\njetstream { store_dir: %q }\n%s", dir, account), 0o600))
	options, err := server.ProcessConfigFile(config)
	require.NoError(t, err)
	options.NoSigs = true
	srv, err := server.NewServer(options)
	require.NoError(t, err)
	g := &guarded{t: t, srv: srv, log: &violations{}, config: config}
	srv.SetLoggerV2(g.log, false, false, false)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	g.url = srv.ClientURL()
	return g
}

// as is the environment of a process of that role.
func (g *guarded) as(role string, more ...string) []string {
	return append([]string{"NATS_URL=" + g.url, "NATS_USER=" + role, "NATS_PASSWORD=" + passwordOf(role), "NATS_INBOX_PREFIX=_INBOX_" + role}, more...)
}

// run runs a command in a role to its end.
func (g *guarded) run(role, program string, args ...string) done {
	g.t.Helper()
	return command{program: program, args: args, env: g.as(role)}.run(g.t)
}

// client is a connection in a role.
func (g *guarded) client(role string) client {
	g.t.Helper()
	nc, err := nats.Connect(g.url, nats.UserInfo(role, passwordOf(role)), nats.CustomInboxPrefix("_INBOX_"+role), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	require.NoError(g.t, err)
	g.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(g.t, err)
	return client{g.t, nc, js}
}

// administrator may do everything.
func (g *guarded) administrator() client {
	g.t.Helper()
	return connect(g.t, strings.Replace(g.url, "nats://", "nats://test:test@", 1))
}

// violations are what the server refused, from its log.
type violations struct {
	mu    sync.Mutex
	lines []string
}

func (v *violations) Errorf(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); strings.Contains(line, "Violation") {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lines = append(v.lines, line[strings.Index(line, " - ")+3:])
	}
}
func (v *violations) Noticef(string, ...any) {}
func (v *violations) Warnf(string, ...any)   {}
func (v *violations) Fatalf(string, ...any)  {}
func (v *violations) Debugf(string, ...any)  {}
func (v *violations) Tracef(string, ...any)  {}

func (v *violations) seen() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.lines...)
}
