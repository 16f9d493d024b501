package natsconn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// serve starts a server with these options on a free port.
func serve(t *testing.T, o server.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, true
	srv, err := server.NewServer(&o)
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	return srv.ClientURL()
}

// secret writes a file that only this user may read.
func secret(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{t, cert, key, secret(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
}

// issue signs a certificate for 127.0.0.1 and the email address ada@example.com.
func (a authority) issue(change func(*x509.Certificate)) (certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "ada"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, EmailAddresses: []string{"ada@example.com"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	return secret(a.t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		secret(a.t, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

// server is TLS for a server, verifying clients against this authority if asked to.
func (a authority) server(verify bool, change func(*x509.Certificate)) *tls.Config {
	certFile, keyFile := a.issue(change)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(a.t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	config := &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	if verify {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config
}

// realm is an operator with an account, as servers with JWTs have them.
type realm struct {
	t        *testing.T
	account  nkeys.KeyPair
	operator *jwt.OperatorClaims
	resolver *server.MemAccResolver
}

func newRealm(t *testing.T) realm {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	require.NoError(t, err)
	operatorID, err := operator.PublicKey()
	require.NoError(t, err)
	claims := jwt.NewOperatorClaims(operatorID)
	_, err = claims.Encode(operator)
	require.NoError(t, err)

	account, err := nkeys.CreateAccount()
	require.NoError(t, err)
	accountID, err := account.PublicKey()
	require.NoError(t, err)
	token, err := jwt.NewAccountClaims(accountID).Encode(operator)
	require.NoError(t, err)
	resolver := &server.MemAccResolver{}
	require.NoError(t, resolver.Store(accountID, token))
	return realm{t, account, claims, resolver}
}

func (r realm) serve() string {
	return serve(r.t, server.Options{TrustedOperators: []*jwt.OperatorClaims{r.operator}, AccountResolver: r.resolver})
}

// creds is what is in the credentials file of a new user.
func (r realm) creds(change func(*jwt.UserClaims)) []byte {
	user, err := nkeys.CreateUser()
	require.NoError(r.t, err)
	userID, err := user.PublicKey()
	require.NoError(r.t, err)
	claims := jwt.NewUserClaims(userID)
	claims.Name = "ada"
	if change != nil {
		change(claims)
	}
	token, err := claims.Encode(r.account)
	require.NoError(r.t, err)
	seed, err := user.Seed()
	require.NoError(r.t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	require.NoError(r.t, err)
	return text
}
