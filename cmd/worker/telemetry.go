package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// telemetryFlags say what is measured and who gets it.
type telemetryFlags struct {
	telemetry.Flags `embed:""`
	MetricsTenants  int  `group:"log" default:"0" placeholder:"N" help:"Label metrics with the tenant, for the first N tenants that come along; the others are labelled other. 0 is no such label. At most 1000."`
	Pprof           bool `group:"log" help:"Serve Go's profiles under /debug/pprof/ on --listen, to clients on the same machine only."`
}

func (f telemetryFlags) check(listen *string) error {
	switch {
	case f.MetricsTenants < 0 || f.MetricsTenants > work.MaxTenants:
		return fmt.Errorf("--metrics-tenants must be 0 to %d", work.MaxTenants)
	case f.Pprof && listen != nil && *listen == "":
		return errors.New("--pprof needs --listen")
	}
	return nil
}

// start measures for a worker. watch is nil if nobody would hear of it.
func (f telemetryFlags) start(ctx context.Context, names wire.Names, circuit, instance string, served bool, logger *slog.Logger) (t *telemetry.Telemetry, watch *work.Observer, err error) {
	t, err = telemetry.Start(ctx, telemetry.Config{
		Service: "weirkeeper-worker", Instance: instance, Build: telemetry.Build(cli.ReadBuild()), Endpoint: f.OTLPEndpoint,
		Metrics: true, Traces: true, Prometheus: served, Logger: logger,
	})
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	if !t.Measures() && !t.Traces() {
		return t, nil, nil
	}
	if watch, err = work.New(t, names, circuit, f.MetricsTenants); err != nil {
		t.Stop()
		return nil, nil, err
	}
	return t, watch, nil
}

// endpoint is the model server's URL, "" if there is none.
func (f modelFlags) endpoint() string {
	switch {
	case !f.openai():
		return ""
	case f.OpenAIBaseURL == "":
		return openai.DefaultBaseURL
	}
	return f.OpenAIBaseURL
}
