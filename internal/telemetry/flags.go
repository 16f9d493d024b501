package telemetry

// Flags are in every command that can export.
type Flags struct {
	OTLPEndpoint string `name:"otlp-endpoint" group:"log" placeholder:"URL" help:"Where to send traces, and the metrics of a worker, as OTLP over HTTP, such as http://127.0.0.1:4318. It wins over OTEL_EXPORTER_OTLP_ENDPOINT; the other OTEL_ variables, such as OTEL_TRACES_SAMPLER, are understood too. Default: nowhere."`
}
