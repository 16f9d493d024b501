// Package check holds what is deployed against the tools and types that will read
// it: the chart against Helm's own engine, what it renders against Kubernetes' types,
// compose.yaml against the specification's own loader. It is a module of its own, so
// that nobody who uses Weirkeeper compiles any of that, and not part of the gate,
// which holds the same files against the programs (internal/doctest) at no cost.
// `make deploy-check` runs it.
package check
