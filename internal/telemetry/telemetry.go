package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	nometer "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	notracer "go.opentelemetry.io/otel/trace/noop"
)

// scope names who measures, in everything that is exported.
const scope = "github.com/weirkeeper/weirkeeper"

// stopTimeout bounds the last export.
const stopTimeout = 2 * time.Second

// Config says what to measure for whom.
type Config struct {
	// Service is what the program is called, unless OTEL_SERVICE_NAME says otherwise.
	Service string
	// Instance tells processes of the same service apart.
	Instance string
	Build    Build
	// Endpoint is where OTLP goes; "" leaves it to OTEL_ variables.
	Endpoint string
	// Metrics and Traces: the program has some. Prometheus: its metrics are also
	// served, see [Telemetry.Handler].
	Metrics, Traces, Prometheus bool
	// Logger hears when nothing can be exported. nil is silent.
	Logger *slog.Logger
}

// Build is which build of a program this is.
type Build struct{ Version, Revision, Go string }

// Telemetry measures and exports until it is stopped. Safe for concurrent use.
type Telemetry struct {
	meter    metric.Meter
	tracer   trace.Tracer
	measures bool
	traces   bool
	registry *prometheus.Registry
	stops    []func(context.Context) error
}

// Start reads the settings and starts what they ask for, which may be nothing. It does
// not speak to anybody yet: an endpoint that does not answer costs a line in the
// log now and then. The error is a [*SettingError], or of a variable that
// OpenTelemetry cannot read.
func Start(ctx context.Context, c Config) (*Telemetry, error) {
	t := &Telemetry{meter: nometer.NewMeterProvider().Meter(scope), tracer: notracer.NewTracerProvider().Tracer(scope)}
	told := newComplaints(c.Logger) // the library's ways to tell of what is wrong, now and later
	otel.SetErrorHandler(told)
	otel.SetLogger(logr.FromSlogHandler(quiet{told.logger}))
	described, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", c.Service), attribute.String("service.version", c.Build.Version),
			attribute.String("service.instance.id", c.Instance)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, &SettingError{"OTEL_RESOURCE_ATTRIBUTES", "cannot be read: want name=value,name=value"}
	}
	if c.Traces {
		if err := t.startTraces(ctx, c, described); err != nil {
			return nil, err
		}
	}
	if c.Metrics || c.Prometheus {
		if err := t.startMetrics(ctx, c, described); err != nil {
			t.Stop()
			return nil, err
		}
	}
	return t, nil
}

func (t *Telemetry) startTraces(ctx context.Context, c Config, described *resource.Resource) error {
	to, err := targetOf(traces, c.Endpoint)
	if err != nil || !to.on {
		return err
	}
	var options []otlptracehttp.Option
	if to.url != "" {
		options = append(options, otlptracehttp.WithEndpointURL(to.url))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	t.tracer, t.traces = provider.Tracer(scope), true
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, c Config, described *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(described), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if t.traces {
		options = append(options, sdkmetric.WithExemplarFilter(exemplar.TraceBasedFilter))
	}
	to, err := targetOf(metrics, c.Endpoint)
	if err != nil {
		return err
	}
	if to.on && c.Metrics {
		var where []otlpmetrichttp.Option
		if to.url != "" {
			where = append(where, otlpmetrichttp.WithEndpointURL(to.url))
		}
		exporter, err := otlpmetrichttp.New(ctx, where...)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
		t.measures = true
	}
	if c.Prometheus {
		t.registry = prometheus.NewRegistry()
		reader, err := promexporter.New(promexporter.WithRegisterer(t.registry), promexporter.WithoutScopeInfo(), promexporter.WithoutTargetInfo())
		if err != nil {
			return err
		}
		t.registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
		options = append(options, sdkmetric.WithReader(reader))
		t.measures = true
	}
	if t.measures {
		provider := sdkmetric.NewMeterProvider(options...)
		t.meter = provider.Meter(scope)
		t.stops = append(t.stops, provider.Shutdown)
	}
	return nil
}

// Meter makes instruments, which cost nothing if nobody reads them.
func (t *Telemetry) Meter() metric.Meter { return t.meter }

// Tracer makes spans.
func (t *Telemetry) Tracer() trace.Tracer { return t.tracer }

// Measures reports whether anybody reads the instruments.
func (t *Telemetry) Measures() bool { return t.measures }

// Traces reports whether spans are exported.
func (t *Telemetry) Traces() bool { return t.traces }

// Handler answers /metrics in Prometheus' text format, or in OpenMetrics' with
// exemplars for who asks for that. It is nil without Prometheus.
func (t *Telemetry) Handler() http.Handler {
	if t.registry == nil {
		return nil
	}
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4})
}

// Stop exports what is left, for a few seconds at most, and ends everything.
func (t *Telemetry) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var failed error
	for _, stop := range t.stops {
		failed = errors.Join(failed, stop(ctx))
	}
	t.stops = nil
	if failed != nil {
		otel.Handle(failed)
	}
}
