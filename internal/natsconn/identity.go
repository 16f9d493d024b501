package natsconn

import (
	"bytes"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/weirkeeper/weirkeeper/internal/secretfile"
)

// identity is how a connection says who it is.
type identity struct {
	way     string // for people: "the credentials in FILE"; "" for none
	creds   string // file with a JWT, "" if there is none
	cert    string // file with the client's certificate, "" if there is none
	options []nats.Option
}

// identity checks what can be checked without the server.
func (o Options) identity() (identity, error) {
	who := identity{cert: o.TLSCert}
	if hasUser(o.URL) {
		who.way = "the user or token in the URL"
	}
	for _, way := range []struct {
		option string
		given  bool
		with   func(*identity) error
	}{
		{"creds", o.Creds != "", o.withCreds},
		{"nkey", o.NKey != "", o.withNKey},
		{"nats-user", o.User != "" || o.Password != "" || o.PasswordFile != "", o.withUser},
		{"nats-token", o.Token != "" || o.TokenFile != "", o.withToken},
	} {
		if !way.given {
			continue
		}
		if who.way != "" {
			return who, &OptionError{way.option, who.way + " is given, too: give one of creds, nkey, user and token, not several"}
		}
		if err := way.with(&who); err != nil {
			return who, err
		}
	}
	return who, nil
}

func (o Options) withCreds(who *identity) error {
	text, err := readOption("creds", o.Creds)
	if err != nil {
		return err
	}
	defer clear(text)
	// What has no frame around it is taken for a JWT as it is.
	if token, err := nkeys.ParseDecoratedJWT(text); err != nil || strings.Count(token, ".") != 2 {
		return &OptionError{"creds", o.Creds + " holds no user JWT"}
	}
	key, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return &OptionError{"creds", o.Creds + " holds no seed of a user's NKey"}
	}
	key.Wipe()
	who.way, who.creds = "the credentials in "+o.Creds, o.Creds
	who.options = []nats.Option{nats.UserCredentials(o.Creds)} // reads the file for every connection
	return nil
}

func (o Options) withNKey(who *identity) error {
	text, err := readOption("nkey", o.NKey)
	if err != nil {
		return err
	}
	clear(text)
	option, err := nats.NkeyOptionFromSeed(o.NKey)
	if err != nil {
		return &OptionError{"nkey", o.NKey + " holds no NKey seed of a user"}
	}
	who.way, who.options = "the NKey in "+o.NKey, []nats.Option{option}
	return nil
}

func (o Options) withUser(who *identity) error {
	if o.User == "" {
		return &OptionError{"nats-user", "a password is given, but no user"}
	}
	secret, err := one("nats-password", o.Password, o.PasswordFile)
	if err != nil {
		return err
	}
	who.way = "user " + o.User + " and the password"
	who.options = []nats.Option{nats.UserInfoHandler(func() (string, string) { return o.User, secret() })}
	return nil
}

func (o Options) withToken(who *identity) error {
	secret, err := one("nats-token", o.Token, o.TokenFile)
	if err != nil {
		return err
	}
	who.way, who.options = "the token", []nats.Option{nats.TokenHandler(secret)}
	return nil
}

// one is a secret that is given as it is or in a file, read again every time.
func one(option, value, file string) (func() string, error) {
	switch {
	case value != "" && file != "":
		return nil, &OptionError{option, "is given twice, as it is and as a file"}
	case value != "":
		return func() string { return value }, nil
	case file == "":
		return nil, &OptionError{option, "is missing: give it, or a file with it"}
	}
	source, err := secretfile.Open(file)
	if err != nil {
		return nil, &OptionError{option + "-file", err.Error()}
	}
	return func() string {
		secret, _ := source.Current() // the last one that could be read, if somebody is replacing it
		return secret
	}, nil
}

func readOption(option, path string) ([]byte, error) {
	if err := secretfile.Readable(path); err != nil {
		return nil, &OptionError{option, err.Error()}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &OptionError{option, err.Error()}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &OptionError{option, path + " is empty"}
	}
	return text, nil
}
