package natsconn

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/nats-io/nats.go"
)

// tlsOptions check the files now, for an error that names the right one; the
// client reads them again for every connection.
func (o Options) tlsOptions() ([]nats.Option, error) {
	var opts []nats.Option
	if o.TLSCA != "" {
		text, err := readOption("tls-ca", o.TLSCA)
		if err != nil {
			return nil, err
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			return nil, &OptionError{"tls-ca", o.TLSCA + " has no certificate in PEM"}
		}
		opts = append(opts, nats.RootCAs(o.TLSCA))
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, &OptionError{"tls-cert", "a certificate and a key belong together; only one was given"}
	}
	if o.TLSCert == "" {
		return opts, nil
	}
	cert, err := readOption("tls-cert", o.TLSCert)
	if err != nil {
		return nil, err
	}
	key, err := readOption("tls-key", o.TLSKey)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		// The package's errors quote nothing of a key.
		return nil, &OptionError{"tls-cert", o.TLSCert + " and " + o.TLSKey + " are no pair of certificate and key in PEM: " + err.Error()}
	}
	return append(opts, nats.ClientCert(o.TLSCert, o.TLSKey)), nil
}
