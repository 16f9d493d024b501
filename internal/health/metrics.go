package health

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
)

// MetricType is what Prometheus makes of a number.
type MetricType string

const (
	Counter MetricType = "counter" // only grows, until the process restarts
	Gauge   MetricType = "gauge"   // goes up and down
)

// Metric is one name with its samples.
type Metric struct {
	Name    string
	Help    string
	Type    MetricType
	Label   string // name of the one label, "" for none
	Samples []Sample
}

// Sample is one number.
type Sample struct {
	LabelValue string // "" without a label
	Value      float64
}

// Metrics serves what read returns in Prometheus' text format, version 0.0.4.
func Metrics(read func(context.Context) []Metric) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), snapshotTimeout)
		defer cancel()
		var body bytes.Buffer
		for _, m := range read(ctx) {
			m.write(&body)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(body.Bytes())
	})
}

func (m Metric) write(out *bytes.Buffer) {
	escapeHelp := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	out.WriteString("# HELP " + m.Name + " " + escapeHelp.Replace(m.Help) + "\n")
	out.WriteString("# TYPE " + m.Name + " " + string(m.Type) + "\n")
	for _, s := range m.Samples {
		out.WriteString(m.Name)
		if m.Label != "" {
			out.WriteString("{" + m.Label + `="` + escapeLabel.Replace(s.LabelValue) + `"}`)
		}
		out.WriteString(" " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
	}
}
