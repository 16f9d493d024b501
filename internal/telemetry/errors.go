package telemetry

import "fmt"

// SettingError is a setting that cannot be used: a flag, or a variable of the
// environment. The value is not in it, since it may hold a secret.
type SettingError struct {
	Setting string // such as --otlp-endpoint or OTEL_EXPORTER_OTLP_PROTOCOL
	Problem string
}

func (e *SettingError) Error() string { return fmt.Sprintf("%s %s", e.Setting, e.Problem) }
