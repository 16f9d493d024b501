// Package health tells over HTTP how a worker is: /healthz for whoever restarts
// it, /readyz for whoever waits for it, /snapshot for people and /metrics for
// Prometheus. No answer holds a payload, a tenant's name or a secret.
package health
