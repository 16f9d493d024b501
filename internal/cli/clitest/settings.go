package clitest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// away is where nobody listens.
const away = "127.0.0.1:1"

// seeded is a secret that nothing may show: it is found whole, and also if something
// has cut or escaped it.
const seeded = "hunter2"

// setting is one way to give a program secrets, such that it works or is a mistake.
type setting struct {
	name   string
	env    []string // NAME=VALUE
	args   []string
	secret []string // beside seeded
	// everywhere: with every command, and not only with one.
	everywhere bool
}

// vault writes files with secrets.
type vault struct {
	t   testing.TB
	dir string
}

func (v vault) file(name, text string) string {
	path := filepath.Join(v.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// settings are all ways that there are to give a secret, right and wrong.
func settings(t testing.TB) []setting {
	v := vault{t, t.TempDir()}
	seed, creds := v.user()
	key := v.tlsKey()
	inner := func(text string) []string { // what is quoted of a file is a line of it
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > 8 && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "***") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	at := "NATS_URL=nats://" + away
	const headerFlag = "WEIR_OPENAI_HEADER="
	return []setting{
		{name: "password in the URL", everywhere: true, env: []string{"NATS_URL=nats://fleet:hunter2@" + away}},
		{name: "token in the URL", env: []string{"NATS_URL=nats://hunter2@" + away}},
		{name: "several servers", env: []string{"NATS_URL=nats://fleet:hunter2@" + away + ",tls://fleet:hunter2@" + away}},
		{name: "a slash in the password", env: []string{"NATS_URL=nats://fleet:hun/hunter2@" + away}},
		{name: "an at in the password", env: []string{"NATS_URL=nats://fleet:p@hunter2@" + away}},
		{name: "a hash in the password", env: []string{"NATS_URL=nats://fleet:p#hunter2@" + away}},
		{name: "an escape that is none", env: []string{"NATS_URL=nats://fleet:%zzhunter2@" + away}},
		{name: "a space in the password", env: []string{"NATS_URL=nats://fleet:a hunter2@" + away}},
		{name: "a control character in the password", env: []string{"NATS_URL=nats://fleet:a\x01hunter2@" + away}},
		{name: "another scheme", env: []string{"NATS_URL=http://fleet:hunter2@" + away}},
		{name: "password", env: []string{at, "NATS_USER=fleet", "NATS_PASSWORD=hunter2"}},
		{name: "password without a user", env: []string{at, "NATS_PASSWORD=hunter2"}},
		{name: "password and token", env: []string{at, "NATS_USER=fleet", "NATS_PASSWORD=hunter2", "NATS_TOKEN=hunter2"}},
		{name: "password twice", env: []string{at, "NATS_USER=fleet", "NATS_PASSWORD=hunter2", "WEIR_NATS_PASSWORD_FILE=" + v.file("again", "hunter2")}},
		{name: "password file", env: []string{at, "NATS_USER=fleet", "WEIR_NATS_PASSWORD_FILE=" + v.file("password", "hunter2\n")}},
		{name: "password file of two lines", env: []string{at, "NATS_USER=fleet", "WEIR_NATS_PASSWORD_FILE=" + v.file("two", "hunter2\nhunter2\n")}},
		{name: "password in place of a file", env: []string{at, "NATS_USER=fleet", "WEIR_NATS_PASSWORD_FILE=" + v.file("none", "") + "-none"}},
		{name: "token", env: []string{at, "NATS_TOKEN=hunter2"}},
		{name: "token file", env: []string{at, "WEIR_NATS_TOKEN_FILE=" + v.file("token", "hunter2")}},
		{name: "token file that is not text", env: []string{at, "WEIR_NATS_TOKEN_FILE=" + v.file("binary", "hunter2\x00\xff")}},
		{name: "credentials", env: []string{at, "NATS_CREDS=" + v.file("creds", creds)}, secret: inner(creds)},
		{name: "credentials that are none", everywhere: true, env: []string{at, "NATS_CREDS=" + v.file("bad.creds", "hunter2 "+seed)}, secret: []string{seed}},
		{name: "credentials without a seed", env: []string{at, "NATS_CREDS=" + v.file("half.creds", creds[:len(creds)/2])}, secret: inner(creds[:len(creds)/2])},
		{name: "NKey", env: []string{at, "NATS_NKEY=" + v.file("nkey", seed)}, secret: []string{seed}},
		{name: "NKey that is none", env: []string{at, "NATS_NKEY=" + v.file("bad.nkey", "SUhunter2hunter2")}},
		{name: "key of another certificate", env: []string{at, "NATS_CERT=" + v.file("cert", "hunter2"), "NATS_KEY=" + v.file("key", key)}, secret: inner(key)},
		{name: "key that is none", env: []string{at, "NATS_CERT=" + v.file("cert2", "hunter2"), "NATS_KEY=" + v.file("badkey", "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n")}},
		{name: "authority that is none", env: []string{at, "NATS_CA=" + v.file("ca", "hunter2")}},

		{name: "model key", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", "OPENAI_API_KEY=sk-hunter2"}},
		{name: "model key with a line break", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", "OPENAI_API_KEY=sk-hunter2\nhunter2"}},
		{name: "model key twice", env: []string{"OPENAI_API_KEY=sk-hunter2", "OPENAI_API_KEY_FILE=" + v.file("sk", "sk-hunter2")}},
		{name: "model key file of two lines", env: []string{"OPENAI_API_KEY_FILE=" + v.file("sk2", "sk-hunter2\nsk-hunter2\n")}},
		{name: "password of the model server", env: []string{"OPENAI_BASE_URL=http://user:hunter2@" + away + "/v1"}},
		{name: "a slash in that password", env: []string{"OPENAI_BASE_URL=http://user:hun/hunter2@" + away + "/v1"}},
		{name: "an escape there that is none", env: []string{"OPENAI_BASE_URL=http://user:%zzhunter2@" + away + "/v1"}},
		{name: "key in the query", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1?key=hunter2"}},
		{name: "header", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", headerFlag + "X-Gateway: hunter2"}},
		{name: "header without a name", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", headerFlag + "hunter2"}},
		{name: "header with a control character", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", headerFlag + "X-Gateway: a\x01hunter2"}},
		{name: "body that is none", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", `WEIR_OPENAI_BODY={"key":"hunter2"`}},
		{name: "proxy", env: []string{"OPENAI_BASE_URL=http://model.example/v1", "HTTP_PROXY=http://user:hunter2@" + away}},
		{name: "proxy that is none", env: []string{"OPENAI_BASE_URL=http://model.example/v1", "HTTP_PROXY=http://user:%zzhunter2@" + away}},
		{name: "model authority that is none", env: []string{"OPENAI_BASE_URL=http://" + away + "/v1", "WEIR_OPENAI_CA=" + v.file("ca2", "hunter2")}},

		{name: "token of the page", env: []string{"WEIR_TOKEN=hunter2-hunter2-hunter2"}},
		{name: "token of the page too short", env: []string{"WEIR_TOKEN=hunter2"}},
		{name: "token of the page twice", env: []string{"WEIR_TOKEN=hunter2-hunter2-hunter2", "WEIR_TOKEN_FILE=" + v.file("page", "hunter2-hunter2-hunter2")}},
		{name: "token file of the page of two lines", env: []string{"WEIR_TOKEN_FILE=" + v.file("page2", "hunter2-hunter2-hunter2\nhunter2\n")}},

		{name: "headers of the collector", env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + away, "OTEL_EXPORTER_OTLP_HEADERS=x-key=hunter2"}},
		{name: "headers that are none", env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + away, "OTEL_EXPORTER_OTLP_HEADERS=hunter2,=hunter2,x=%zzhunter2"}},
		{name: "password of the collector", env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:hunter2@" + away}},
		{name: "password of the collector in the flag", env: []string{"WEIR_OTLP_ENDPOINT=http://user:hunter2@" + away}},
		{name: "a collector that is none", env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:%zzhunter2@" + away}},
		{name: "a collector's key that is none", env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://" + away, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=" + v.file("cert3", "hunter2"), "OTEL_EXPORTER_OTLP_CLIENT_KEY=" + v.file("key3", "hunter2")}},

		{name: "configuration", env: []string{"WEIR_CONFIG=" + v.file("good.yaml", "nats-url: nats://fleet:hunter2@"+away+"\nopenai-api-key: sk-hunter2\n")}},
		{name: "configuration with an unknown key", everywhere: true, env: []string{"WEIR_CONFIG=" + v.file("key.yaml", "nats-pasword: hunter2\n")}},
		{name: "configuration that is no YAML", env: []string{"WEIR_CONFIG=" + v.file("no.yaml", "nats-password: \"hunter2\nopenai-api-key: hunter2")}},
		{name: "configuration with a list", env: []string{"WEIR_CONFIG=" + v.file("list.yaml", "nats-password: [hunter2]\n")}},
		{name: "configuration with a secret for a number", env: []string{"WEIR_CONFIG=" + v.file("number.yaml", "nats-url: http://fleet:hunter2@"+away+"\n")}},
		{name: "configuration that is a secret", env: []string{"WEIR_CONFIG=" + v.file("secret.yaml", "hunter2")}},

		{name: "flags", args: []string{"--nats-url", "nats://fleet:hunter2@" + away, "--nats-password", "hunter2"}},
		{name: "a flag that is misspelt", everywhere: true, args: []string{"--nats-pasword=hunter2"}},
		{name: "another flag that is misspelt", args: []string{"--openai-api-kei", "hunter2"}},
		{name: "a URL that nobody has asked for", args: []string{"nats://fleet:hunter2@" + away}},
	}
}

// user makes an NKey's seed, and a credentials file with it and a token.
func (v vault) user() (seed, creds string) {
	user, err := nkeys.CreateUser()
	if err != nil {
		v.t.Fatal(err)
	}
	text, err := user.Seed()
	if err != nil {
		v.t.Fatal(err)
	}
	seed = string(text)
	const token = "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJodW50ZXIyaHVudGVyMiJ9.aHVudGVyMmh1bnRlcjI"
	return seed, "-----BEGIN NATS USER JWT-----\n" + token + "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"
}

func (v vault) tlsKey() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		v.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		v.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: der}); err != nil {
		v.t.Fatal(err)
	}
	return text.String()
}
