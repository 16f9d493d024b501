package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDependenciesPointOneWay checks R1, R3, R6 and every other rule over the real
// import graph, third-party imports included.
func TestDependenciesPointOneWay(t *testing.T) {
	g := load(t)
	require.Contains(t, g, module+"/kvcache")
	require.Contains(t, g, module+"/extraction")
	for _, v := range violations(g, rules) {
		t.Error(v)
	}
}

// TestEveryRuleCanFail proves that no rule is vacuous: each one objects to an
// import made up to break it.
func TestEveryRuleCanFail(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, of := range r.of {
				for _, never := range r.never {
					pkg := module + "/" + of
					if of == "" {
						pkg = module + "/elsewhere"
					}
					dep := never
					if local(never) {
						dep = module + "/" + never
					}
					g := graph{pkg: {direct: []string{dep}, all: []string{dep}}}
					require.Len(t, violations(g, []rule{r}), 1, "%s -> %s", pkg, dep)
				}
			}
		})
	}
}

// TestBoundPackagesExist keeps a rule from naming a package that is gone.
func TestBoundPackagesExist(t *testing.T) {
	g := load(t)
	for _, r := range rules {
		for _, of := range r.of {
			if of == "" {
				continue
			}
			found := false
			for pkg := range g {
				found = found || matches(pkg, []string{module + "/" + of})
			}
			require.True(t, found, "rule %q binds %s, which does not exist", r.name, of)
		}
	}
}

// local reports whether a pattern names a package of the module: third parties
// have a dot in their first element.
func local(pattern string) bool {
	first, _, _ := bytes.Cut([]byte(pattern), []byte("/"))
	return !bytes.ContainsRune(first, '.')
}

func load(t *testing.T) graph {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	g := graph{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath    string
			Imports, Deps []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		g[p.ImportPath] = struct{ direct, all []string }{p.Imports, p.Deps}
	}
	return g
}
