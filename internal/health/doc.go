// Package health tells over HTTP how a worker is: /healthz for whoever restarts
// it, /readyz for whoever waits for it, /snapshot for people and /metrics for
// Prometheus. No answer of its own holds a payload, a tenant's name or a secret; a
// page that it is given answers what is asked for beside them.
package health
