package natsconn_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/process"
)

const password = "hunter2hunter2"

// connects opens a connection and proves that it can be used.
func connects(t *testing.T, o natsconn.Options) {
	t.Helper()
	nc, err := natsconn.Connect(t.Context(), o)
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, nc.FlushTimeout(5*time.Second))
}

// refuses tries to open a connection; neither the error nor the log tells a secret: no
// password, and no line of a file with a token, a seed or a key.
func refuses(t *testing.T, o natsconn.Options) error {
	t.Helper()
	var log process.Log
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	nc, err := natsconn.Connect(t.Context(), o)
	if err == nil {
		nc.Close()
	}
	require.Error(t, err)
	told := err.Error() + fmt.Sprintf("%+v", err) + log.String()
	require.NotContains(t, told, password)
	for _, file := range []string{o.Creds, o.NKey, o.PasswordFile, o.TokenFile, o.TLSKey} {
		held, _ := os.ReadFile(file) // which may be what is wrong
		for line := range strings.Lines(string(held)) {
			if line = strings.TrimSpace(line); len(line) > 8 && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "**") {
				require.NotContains(t, told, line)
			}
		}
	}
	return err
}

func refused(t *testing.T, o natsconn.Options, problem string) {
	t.Helper()
	err := refuses(t, o)
	var re *natsconn.RefusedError
	require.ErrorAs(t, err, &re)
	require.Contains(t, re.Problem, problem)
	var ce *natsconn.ConnectError
	require.ErrorAs(t, err, &ce)
}

func insecure(t *testing.T, o natsconn.Options, problem string) {
	t.Helper()
	var te *natsconn.TLSError
	require.ErrorAs(t, refuses(t, o), &te)
	require.Contains(t, te.Problem, problem)
}

func TestUserAndPassword(t *testing.T) {
	url := serve(t, server.Options{Username: "ada", Password: password})
	connects(t, natsconn.Options{URL: url, User: "ada", Password: password})
	connects(t, natsconn.Options{URL: url, User: "ada", PasswordFile: secret(t, []byte(password+"\n"))})
	connects(t, natsconn.Options{URL: strings.Replace(url, "//", "//ada:"+password+"@", 1)})
	refused(t, natsconn.Options{URL: url}, "the server wants to know who this is")
	refused(t, natsconn.Options{URL: url, User: "ada", Password: password + "x"}, "does not accept user ada and the password")
	refused(t, natsconn.Options{URL: strings.Replace(url, "//", "//bob:"+password+"@", 1)}, "does not accept the user or token in the URL")
	refused(t, natsconn.Options{URL: url, Token: password}, "does not accept the token")
}

func TestToken(t *testing.T) {
	url := serve(t, server.Options{Authorization: password})
	connects(t, natsconn.Options{URL: url, Token: password})
	connects(t, natsconn.Options{URL: url, TokenFile: secret(t, []byte(password))})
	connects(t, natsconn.Options{URL: strings.Replace(url, "//", "//"+password+"@", 1)})
	refused(t, natsconn.Options{URL: url}, "the server wants to know who this is")
	refused(t, natsconn.Options{URL: url, TokenFile: secret(t, []byte("another"))}, "does not accept the token")
}

func TestNKey(t *testing.T) {
	user, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := user.PublicKey()
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	other, err := nkeys.CreateUser()
	require.NoError(t, err)
	otherSeed, err := other.Seed()
	require.NoError(t, err)
	url := serve(t, server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	connects(t, natsconn.Options{URL: url, NKey: secret(t, seed)})
	refused(t, natsconn.Options{URL: url, NKey: secret(t, otherSeed)}, "does not accept the NKey in /")
	plain := serve(t, server.Options{Username: "ada", Password: password})
	refused(t, natsconn.Options{URL: plain, NKey: secret(t, seed)}, "the server knows no NKeys or JWTs")
}

func TestCredentialsFile(t *testing.T) {
	r := newRealm(t)
	url := r.serve()
	connects(t, natsconn.Options{URL: url, Creds: secret(t, r.creds(nil))})
	refused(t, natsconn.Options{URL: url}, "the server wants to know who this is")
	refused(t, natsconn.Options{URL: url, Creds: secret(t, newRealm(t).creds(nil))}, "does not accept the credentials in /")
	expired := r.creds(func(c *jwt.UserClaims) { c.Expires = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC).Unix() })
	refused(t, natsconn.Options{URL: url, Creds: secret(t, expired)}, "expired at 2020-01-02T03:04:05Z: get new ones")
}

func TestTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	url := serve(t, server.Options{TLSConfig: ca.server(false, nil), TLSTimeout: 2})
	connects(t, natsconn.Options{URL: url, TLSCA: ca.file})
	connects(t, natsconn.Options{URL: strings.Replace(url, "nats:", "tls:", 1), TLSCA: ca.file})
	insecure(t, natsconn.Options{URL: url}, "signed by an authority that is not trusted here")
	insecure(t, natsconn.Options{URL: url, TLSCA: other.file}, "is tls-ca the right one?")

	named := serve(t, server.Options{TLSConfig: ca.server(false, func(c *x509.Certificate) { c.IPAddresses = nil; c.DNSNames = []string{"nats.example"} }), TLSTimeout: 2})
	insecure(t, natsconn.Options{URL: named, TLSCA: ca.file}, "for another name")
	expired := serve(t, server.Options{TLSConfig: ca.server(false, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), TLSTimeout: 2})
	insecure(t, natsconn.Options{URL: expired, TLSCA: ca.file}, "has expired")
	plain := serve(t, server.Options{})
	insecure(t, natsconn.Options{URL: plain, TLSCA: ca.file}, "the server has no TLS")
	insecure(t, natsconn.Options{URL: strings.Replace(plain, "nats:", "tls:", 1)}, "the server has no TLS")
}

func TestMutualTLS(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	url := serve(t, server.Options{TLSConfig: ca.server(true, nil), TLSVerify: true, TLSTimeout: 2})
	with := func(a authority, change func(*x509.Certificate)) natsconn.Options {
		cert, key := a.issue(change)
		return natsconn.Options{URL: url, TLSCA: ca.file, TLSCert: cert, TLSKey: key}
	}
	connects(t, with(ca, nil))
	insecure(t, natsconn.Options{URL: url, TLSCA: ca.file}, "the server wants a client certificate")
	insecure(t, with(other, nil), "does not accept the client certificate in /")
	insecure(t, with(ca, func(c *x509.Certificate) {
		c.NotAfter = time.Date(2021, 2, 3, 4, 5, 6, 0, time.UTC)
		c.NotBefore = c.NotAfter.AddDate(-1, 0, 0)
	}), "expired at 2021-02-03T04:05:06Z")

	// The certificate is the user.
	url = serve(t, server.Options{
		TLSConfig: ca.server(true, nil), TLSVerify: true, TLSMap: true, TLSTimeout: 2, Users: []*server.User{{Username: "ada@example.com"}},
	})
	connects(t, with(ca, nil))
	refused(t, with(ca, func(c *x509.Certificate) { c.EmailAddresses = []string{"bob@example.com"} }), "the client certificate is not that of a user")
}

func TestFilesThatDoNotDo(t *testing.T) {
	ca, r := newAuthority(t), newRealm(t)
	cert, key := ca.issue(nil)
	_, otherKey := ca.issue(nil)
	account, err := nkeys.CreateAccount()
	require.NoError(t, err)
	accountSeed, err := account.Seed()
	require.NoError(t, err)
	token, _, _ := strings.Cut(string(r.creds(nil)), "*")
	empty, missing := secret(t, nil), filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]struct {
		o               natsconn.Options
		option, problem string
	}{
		"no such creds":         {natsconn.Options{Creds: missing}, "creds", missing + ": there is no such file"},
		"empty creds":           {natsconn.Options{Creds: empty}, "creds", "is empty"},
		"creds are a folder":    {natsconn.Options{Creds: t.TempDir()}, "creds", "not a regular file"},
		"creds without a seed":  {natsconn.Options{Creds: secret(t, []byte(token))}, "creds", "no seed"},
		"creds without a JWT":   {natsconn.Options{Creds: secret(t, []byte(password))}, "creds", "no user JWT"},
		"no such nkey":          {natsconn.Options{NKey: missing}, "nkey", "no such file"},
		"nkey of an account":    {natsconn.Options{NKey: secret(t, accountSeed)}, "nkey", "no NKey seed of a user"},
		"password without user": {natsconn.Options{Password: password}, "nats-user", "no user"},
		"user without password": {natsconn.Options{User: "ada"}, "nats-password", "is missing"},
		"two passwords":         {natsconn.Options{User: "ada", Password: password, PasswordFile: empty}, "nats-password", "twice"},
		"no such password file": {natsconn.Options{User: "ada", PasswordFile: missing}, "nats-password-file", "no such file"},
		"a whole password list": {natsconn.Options{User: "ada", PasswordFile: secret(t, []byte(password+"\n"+password))}, "nats-password-file", "more than one line"},
		"empty token file":      {natsconn.Options{TokenFile: empty}, "nats-token-file", "is empty"},
		"two ways":              {natsconn.Options{Creds: secret(t, r.creds(nil)), Token: password}, "nats-token", "the credentials in"},
		"a way and a URL":       {natsconn.Options{URL: "nats://ada:" + password + "@127.0.0.1:1", Token: password}, "nats-token", "in the URL"},
		"CA without PEM":        {natsconn.Options{TLSCA: secret(t, []byte(password))}, "tls-ca", "no certificate in PEM"},
		"key of another":        {natsconn.Options{TLSCert: cert, TLSKey: otherKey}, "tls-cert", "no pair"},
		"key in place of cert":  {natsconn.Options{TLSCert: key, TLSKey: key}, "tls-cert", "no pair"},
		"inbox of everybody":    {natsconn.Options{InboxPrefix: "_INBOX.>"}, "nats-inbox-prefix", "dots"},
		"inbox with a dot":      {natsconn.Options{InboxPrefix: "_INBOX."}, "nats-inbox-prefix", "dots"},
	} {
		t.Run(name, func(t *testing.T) {
			var oe *natsconn.OptionError
			require.ErrorAs(t, refuses(t, c.o), &oe)
			require.Equal(t, c.option, oe.Option)
			require.Contains(t, oe.Problem, c.problem)
		})
	}
	if os.Getuid() != 0 { // root may read everything
		locked := secret(t, []byte(password))
		require.NoError(t, os.Chmod(locked, 0))
		err := refuses(t, natsconn.Options{User: "ada", PasswordFile: locked})
		require.ErrorContains(t, err, "may not read it")
		require.False(t, errors.Is(err, fs.ErrNotExist))
	}
}

func TestSecretsThatEverybodyMayReadAreWarnedAbout(t *testing.T) {
	url := serve(t, server.Options{Username: "ada", Password: password})
	file := secret(t, []byte(password))
	var log process.Log
	o := natsconn.Options{URL: url, User: "ada", PasswordFile: file, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	connects(t, o)
	require.NotContains(t, log.String(), "every user of this machine")
	require.NoError(t, os.Chmod(file, 0o644))
	connects(t, o)
	require.Contains(t, log.String(), `every user of this machine may read a secret: chmod o-r" option=nats-password-file file=`+file)
	require.NotContains(t, log.String(), password)
}

func TestInboxPrefix(t *testing.T) {
	url := serve(t, server.Options{})
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{URL: url, InboxPrefix: "_INBOX_worker.a-1"})
	require.NoError(t, err)
	defer nc.Close()
	require.True(t, strings.HasPrefix(nc.NewInbox(), "_INBOX_worker.a-1."))
}

// A user whose time is over while it is connected is cut off; the connection comes
// back once somebody has put new credentials in the file. The same is true of a
// password and of a token.
func TestRotatedSecretsAreTakenUpWithoutARestart(t *testing.T) {
	r := newRealm(t)
	file := secret(t, r.creds(func(c *jwt.UserClaims) { c.Expires = time.Now().Add(2 * time.Second).Unix() }))
	var log process.Log
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{URL: r.serve(), Creds: file, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer nc.Close()
	says := "the credentials in " + file + " expired at "
	require.Eventually(t, func() bool { return strings.Contains(log.String(), says) && !nc.IsConnected() }, 10*time.Second, 20*time.Millisecond)
	require.NoError(t, os.WriteFile(file, r.creds(nil), 0o600))
	require.Eventually(t, nc.IsConnected, 10*time.Second, 20*time.Millisecond)
	require.LessOrEqual(t, strings.Count(log.String(), says), 3, "told once for each form of the error, not at every attempt:\n%s", &log)
}

func TestRotatedPasswordAndToken(t *testing.T) {
	for name, c := range map[string]struct {
		before, after server.Options
		with          natsconn.Options
	}{
		"password": {server.Options{Username: "ada", Password: password}, server.Options{Username: "ada", Password: "new"}, natsconn.Options{User: "ada"}},
		"token":    {server.Options{Authorization: password}, server.Options{Authorization: "new"}, natsconn.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			port := listener.Addr().(*net.TCPAddr).Port
			require.NoError(t, listener.Close())
			start := func(o server.Options) *server.Server {
				o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", port, true, true
				srv, err := server.NewServer(&o)
				require.NoError(t, err)
				srv.Start()
				require.True(t, srv.ReadyForConnections(10*time.Second))
				return srv
			}
			file := secret(t, []byte(password))
			o := c.with
			if o.PasswordFile = file; o.User == "" {
				o.PasswordFile, o.TokenFile = "", file
			}
			first := start(c.before)
			o.URL = first.ClientURL()
			nc, err := natsconn.Connect(t.Context(), o)
			require.NoError(t, err)
			defer nc.Close()
			require.NoError(t, os.WriteFile(file, []byte("new\n"), 0o600))
			first.Shutdown()
			first.WaitForShutdown()
			second := start(c.after)
			defer second.WaitForShutdown()
			defer second.Shutdown()
			require.Eventually(t, nc.IsConnected, 10*time.Second, 20*time.Millisecond)
		})
	}
}

// A right that is missing is said once, however often it is met, and by name.
func TestMissingRightsAreNamedInTheLogOnce(t *testing.T) {
	url := serve(t, server.Options{Users: []*server.User{{Username: "ada", Password: password, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"a"}}, Subscribe: &server.SubjectPermission{Allow: []string{"a"}},
	}}}})
	var log process.Log
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{URL: url, User: "ada", Password: password, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer nc.Close()
	for range 20 {
		require.NoError(t, nc.Publish("$JS.API.STREAM.INFO.WEIR_CHUNKS", nil))
	}
	_, err = nc.SubscribeSync("weir.arrived.*")
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	require.Eventually(t, func() bool { return strings.Contains(log.String(), `right="subscribe to weir.arrived.*"`) }, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, strings.Count(log.String(), `right="publish to $JS.API.STREAM.INFO.WEIR_CHUNKS"`), log.String())
	require.Empty(t, natsconn.DeniedRight(errors.New("something else")))
	require.Empty(t, natsconn.DeniedRight(nats.ErrPermissionViolation))
}

// The token of a URL is its user, which net/url would show.
func TestServerURLHasNoToken(t *testing.T) {
	url := serve(t, server.Options{Authorization: password})
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{URL: strings.Replace(url, "//", "//"+password+"@", 1)})
	require.NoError(t, err)
	require.Equal(t, url, natsconn.ServerURL(nc))
	nc.Close()
	require.Empty(t, natsconn.ServerURL(nc))
}
