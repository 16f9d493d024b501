package archtest

import "strings"

const module = "github.com/weirkeeper/weirkeeper"

// A rule forbids packages of ours to reach others. Patterns are import paths
// below the module ("kvcache"), or of third parties ("github.com/nats-io");
// they match a package and everything below it, except in an exact list.
type rule struct {
	name    string
	of      []string // the packages that the rule binds; "" is every package of the module
	except  []string // packages that it does not bind
	never   []string // what they must not reach
	direct  bool     // only a direct import breaks the rule
	because string
}

var rules = []rule{
	{
		name:  "R1 resilience does not know extraction",
		of:    []string{"resilience"},
		never: []string{"extraction", "consumer", "publish", "internal/wire", "internal/natsconn", "kvcache/natskv", "github.com", "golang.org", "go.yaml.in"},
		because: "retry, limits and breaking wrap any call: nothing in them knows a chunk, a vendor or a store; " +
			"a second caller of a model gets them without reaching sideways",
	},
	{
		name:    "R1 extraction does not know resilience",
		of:      []string{"extraction"},
		never:   []string{"resilience", "kvcache", "consumer", "publish", "internal/wire", "internal/natsconn", "github.com/nats-io"},
		because: "extraction reaches a model only through its Provider port and cannot tell a hardened one from a plain one",
	},
	{
		name:    "R6 the Cache port and its default need no server",
		of:      []string{"kvcache"},
		except:  []string{"kvcache/natskv", "kvcache/cachetest"},
		never:   []string{"github.com", "golang.org", "go.yaml.in", "extraction", "resilience", "consumer", "internal/wire", "internal/natsconn"},
		because: "importing the default must not pull in a client, least of all NATS",
	},
	{
		name:    "the JetStream cache knows no caller",
		of:      []string{"kvcache/natskv"},
		never:   []string{"extraction", "resilience", "consumer", "publish", "internal/wire", "internal/natsconn"},
		because: "an adapter depends on its port and its client only",
	},
	{
		name:    "nobody imports a command",
		of:      []string{""},
		except:  []string{"cmd"},
		never:   []string{"cmd"},
		because: "commands compose; what two of them share lives below them",
	},
	{
		name:    "R4 only commands compose",
		of:      []string{""},
		except:  []string{"cmd", "examples", "internal/eval", "internal/chaos", "internal/overview", "kvcache/natskv", "extraction/offline", "extraction/openai"},
		never:   []string{"kvcache/natskv", "extraction/openai", "extraction/offline"},
		direct:  true,
		because: "adapters are chosen in one place; everything else takes the port, but for the overview, which reads how one has stored the limits",
	},
	{
		name:    "the worker's consumer does not publish documents",
		of:      []string{"consumer"},
		never:   []string{"publish"},
		because: "publisher and worker meet on the wire, not in code",
	},
	{
		name:    "examples use what everybody can",
		of:      []string{"examples"},
		never:   []string{"internal", "cmd"},
		direct:  true,
		because: "a program outside this repository may not import them",
	},
	{
		name:    "publishing does not consume",
		of:      []string{"publish"},
		never:   []string{"consumer", "resilience", "kvcache"},
		because: "publisher and worker meet on the wire, not in code",
	},
	{
		name:    "nats.go is confined",
		of:      []string{""},
		except:  []string{"cmd", "consumer", "publish", "kvcache/natskv", "internal/history", "internal/wire", "internal/natsconn", "internal/natstest", "internal/overview", "internal/chaos", "examples"},
		never:   []string{"github.com/nats-io/nats.go"},
		direct:  true,
		because: "only what speaks to NATS may know its client",
	},
	{
		name:    "nats-server is confined",
		of:      []string{""},
		except:  []string{"internal/natsconn"},
		never:   []string{"github.com/nats-io/nats-server"},
		direct:  true,
		because: "the embedded server is one package's business",
	},
	{
		name:    "go-openai is confined",
		of:      []string{""},
		except:  []string{"extraction/openai"},
		never:   []string{"github.com/sashabaranov/go-openai"},
		direct:  true,
		because: "the adapter translates the vendor's words; nobody else may hear them",
	},
	{
		name:    "the PDF library is confined",
		of:      []string{""},
		except:  []string{"publish/reader"},
		never:   []string{"github.com/klippa-app", "github.com/tetratelabs"},
		direct:  true,
		because: "files are hostile: one package opens them, within bounds",
	},
	{
		name:    "HTML is read in one place",
		of:      []string{""},
		except:  []string{"internal/htmltext", "publish/reader"},
		never:   []string{"golang.org/x/net/html"},
		direct:  true,
		because: "a page that is sent and one that is published must have the same text, and so the same chunk ids",
	},
	{
		name:    "workers do not open files",
		of:      []string{"consumer", "extraction", "internal/wire"},
		never:   []string{"publish/reader", "github.com/klippa-app"},
		because: "formats are the publisher's business; on the wire there is text",
	},
	{
		name:    "the tokenizer is confined",
		of:      []string{""},
		except:  []string{"extraction/tokens"},
		never:   []string{"github.com/tiktoken-go"},
		direct:  true,
		because: "its vocabulary is 7 MB: only who counts tokens pays for it",
	},
	{
		name:    "command line libraries are confined",
		of:      []string{""},
		except:  []string{"cmd", "internal/cli"},
		never:   []string{"github.com/alecthomas/kong", "github.com/vbauerster/mpb", "golang.org/x/term", "github.com/mattn/go-runewidth"},
		direct:  true,
		because: "a library user of a package must not inherit a command line",
	},
	{
		name:    "the YAML parser is confined",
		of:      []string{""},
		except:  []string{"internal/cli", "extraction/domains"},
		never:   []string{"go.yaml.in/yaml"},
		direct:  true,
		because: "files are read in two places, configuration and domains; whoever only extracts needs no parser",
	},
	{
		name:    "OpenTelemetry and Prometheus are confined",
		of:      []string{""},
		except:  []string{"internal/telemetry"},
		never:   []string{"go.opentelemetry.io", "github.com/prometheus", "github.com/go-logr"},
		direct:  true,
		because: "what is measured is told through observers in plain Go; who uses a library must not inherit an exporter",
	},
	{
		name:    "libraries do not reach telemetry",
		of:      []string{"consumer", "publish", "extraction", "resilience", "kvcache", "internal/health", "internal/wire"},
		never:   []string{"internal/telemetry", "go.opentelemetry.io", "github.com/prometheus"},
		because: "only a command decides that something is measured",
	},
	{
		name:    "test libraries stay in tests",
		of:      []string{""},
		never:   []string{"github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/creack/pty"},
		because: "a binary must not carry its test helpers",
	},
	{
		name:    "the scripted model server and the fleet around it stay in tests",
		of:      []string{""},
		except:  []string{"internal/modelserver", "internal/process", "internal/natstest", "internal/browser", "internal/freeport", "internal/chaos", "internal/cli/clitest"},
		never:   []string{"internal/modelserver", "internal/process", "internal/natstest", "internal/browser", "internal/freeport", "internal/chaos", "internal/cli/clitest"},
		because: "no fake belongs in the product",
	},
}

// graph maps a package of the module to what its non-test code imports.
type graph map[string]struct{ direct, all []string }

// violations returns, for every rule, the imports that break it.
func violations(g graph, rules []rule) []string {
	var out []string
	for _, r := range rules {
		for pkg, imports := range g {
			name, ours := strings.CutPrefix(pkg, module)
			name = strings.TrimPrefix(name, "/")
			if !ours || !matches(name, r.of) || matches(name, r.except) && len(r.except) > 0 {
				continue
			}
			reached := imports.all
			if r.direct {
				reached = imports.direct
			}
			for _, dep := range reached {
				if below(dep, name) {
					continue // a package may use what lies below it
				}
				target := strings.TrimPrefix(dep, module+"/")
				if matches(target, r.never) {
					out = append(out, pkg+" reaches "+dep+": "+r.name+", because "+r.because)
				}
			}
		}
	}
	return out
}

func below(dep, name string) bool {
	return name != "" && (dep == module+"/"+name || strings.HasPrefix(dep, module+"/"+name+"/"))
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		if p == "" || name == p || strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}
