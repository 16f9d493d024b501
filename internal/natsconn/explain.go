package natsconn

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// explain says what the error of a connection means to who set it up. Errors that
// it does not know stay as they are.
func explain(who identity, err error) error {
	if err == nil {
		return nil
	}
	if refused(err) {
		return &RefusedError{Problem: who.refusal(err, time.Now()), Err: err}
	}
	if problem := who.tlsProblem(err, time.Now()); problem != "" {
		return &TLSError{Problem: problem, Err: err}
	}
	if errors.Is(err, nats.ErrNoServers) {
		return fmt.Errorf("connection refused or no server there (%w)", err)
	}
	return err
}

func refused(err error) bool {
	for _, known := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// refusal is why the server may not want to know this one.
func (who identity) refusal(err error, now time.Time) string {
	switch {
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return "the server knows no NKeys or JWTs: it wants another way of saying who this is"
	case who.creds != "":
		if until, ok := credsExpiry(who.creds); ok && !until.After(now) {
			return fmt.Sprintf("%s expired at %s: get new ones", who.way, until.UTC().Format(time.RFC3339))
		}
	case who.way == "" && who.cert != "":
		return "the client certificate is not that of a user, or the server wants something else as well"
	case who.way == "":
		return "the server wants to know who this is: give creds, an nkey, a user with a password, a token or a client certificate"
	}
	switch {
	case errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired):
		return who.way + ": no longer valid"
	case errors.Is(err, nats.ErrAuthRevoked):
		return who.way + ": revoked"
	}
	return "the server does not accept " + who.way
}

// credsExpiry is when the JWT in a credentials file ends; false if it has no end,
// or cannot be read.
func credsExpiry(path string) (time.Time, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, false
	}
	defer clear(text)
	token, err := nkeys.ParseDecoratedJWT(text)
	if err != nil {
		return time.Time{}, false
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if json.Unmarshal(body, &claims) != nil || claims.Expires == 0 {
		return time.Time{}, false
	}
	return time.Unix(claims.Expires, 0), true
}

// tlsProblem is "" for an error that has nothing to do with TLS.
func (who identity) tlsProblem(err error, now time.Time) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var operation *net.OpError
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an authority that is not trusted here: is tls-ca the right one?"
	case errors.As(err, &name):
		return "the server's certificate is for another name than the one in the URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired, or is not valid yet"
	case errors.As(err, &invalid):
		return "the server's certificate is not fit for this"
	case errors.As(err, &record):
		return "what answers does not speak TLS"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server has no TLS, which tls:// or an option asks for"
	case errors.Is(err, nats.ErrSecureConnRequired):
		return "the server wants TLS"
	case strings.Contains(err.Error(), "closed by remote after TLS handshake"): // the alert was lost
	case errors.As(err, &operation) && operation.Op == "remote error": // the alert
	case errors.Is(err, nats.ErrTLS):
		return "the TLS handshake failed"
	default:
		return ""
	}
	switch {
	case who.cert == "":
		return "the server wants a client certificate: give tls-cert and tls-key"
	case strings.Contains(err.Error(), "handshake failure"):
		return "the server and this client agree on no version or cipher of TLS"
	}
	if until, ok := certExpiry(who.cert); ok && !until.After(now) {
		return fmt.Sprintf("the client certificate in %s expired at %s", who.cert, until.UTC().Format(time.RFC3339))
	}
	return "the server does not accept the client certificate in " + who.cert
}

func certExpiry(path string) (time.Time, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, false
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return cert.NotAfter, true
}
