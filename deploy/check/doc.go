// Package check holds what is deployed against the tools and types that will read
// it: the chart against Helm's own engine, what it renders against Kubernetes' types,
// compose.yaml against the specification's own loader, the Dockerfile against BuildKit's
// parser. It is a module of its own, so that nobody who uses Weirkeeper compiles any of
// that. The gate runs it through deploy/check/gate, and `make deploy-check` builds the
// image and the archives besides.
package check
