// Package telemetry owns OpenTelemetry: it reads the settings, starts what measures
// and exports, and stops it. What is measured is said by its subpackages: work for
// workers, send for publishers. Nothing else in the module knows OpenTelemetry or
// Prometheus; packages tell what they do through observers of their own.
//
// Neither metrics nor traces ever hold a text, a prompt, an answer or a secret.
package telemetry
