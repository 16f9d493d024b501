package wire

import (
	"fmt"
	"strings"
)

// AccountConfig is an account of nats-server with a user for each role, as the
// documentation has it. Passwords come from the server's environment.
func (n Names) AccountConfig() string {
	var out strings.Builder
	out.WriteString("accounts {\n  FLEET {\n    jetstream: enabled\n    users: [\n")
	for _, role := range Roles() {
		r := n.RightsOf(role)
		fmt.Fprintf(&out, "      {\n        user: %s\n        password: $%s_PASSWORD\n        permissions {\n", role, strings.ToUpper(string(role)))
		list(&out, "publish", r.Publish)
		list(&out, "subscribe", r.Subscribe)
		out.WriteString("        }\n      }\n")
	}
	out.WriteString("    ]\n  }\n}\n")
	return out.String()
}

func list(out *strings.Builder, what string, subjects []string) {
	fmt.Fprintf(out, "          %s: [\n", what)
	for _, subject := range subjects {
		fmt.Fprintf(out, "            %q\n", subject)
	}
	out.WriteString("          ]\n")
}
