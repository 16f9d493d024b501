package wire

import (
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// APIPrefix is what the subjects begin with that js asks on, "$JS.API." as a rule.
func APIPrefix(js jetstream.JetStream) string {
	switch o := js.Options(); {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}
