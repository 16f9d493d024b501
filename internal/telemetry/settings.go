package telemetry

import (
	"errors"
	"net/url"
	"os"
	"strings"
)

// signal is what an exporter sends, as it is called in OTEL_ variables.
type signal string

const (
	metrics signal = "METRICS"
	traces  signal = "TRACES"
)

// target says whether a signal is exported, and to which URL if that is not left to
// the variables, which the exporter reads by itself.
type target struct {
	on  bool
	url string
}

// disabled reports whether the user has switched off everything but /metrics.
func disabled() bool { return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") }

// targetOf decides about one signal. endpoint is the flag, which wins.
func targetOf(s signal, endpoint string) (target, error) {
	if disabled() {
		return target{}, nil
	}
	asked := os.Getenv("OTEL_" + string(s) + "_EXPORTER")
	switch asked {
	case "", "otlp":
	case "none":
		return target{}, nil
	case "prometheus":
		if s == metrics { // which is /metrics, and always there
			return target{}, nil
		}
		fallthrough
	default:
		return target{}, &SettingError{"OTEL_" + string(s) + "_EXPORTER", "must be otlp or none"}
	}
	named := os.Getenv("OTEL_EXPORTER_OTLP_"+string(s)+"_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
	if endpoint == "" && !named && asked == "" {
		return target{}, nil
	}
	if err := errors.Join(checkProtocol(s), checkEndpoints(s), checkHeaders(s)); err != nil {
		return target{}, err
	}
	if endpoint == "" {
		return target{on: true}, nil
	}
	base, err := endpointURL(endpoint)
	if err != nil {
		return target{}, err
	}
	return target{on: true, url: base.JoinPath("v1", strings.ToLower(string(s))).String()}, nil
}

// checkProtocol refuses gRPC rather than speaking HTTP to its port.
func checkProtocol(s signal) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch os.Getenv(name) {
		case "":
		case "http/protobuf":
			return nil
		default:
			return &SettingError{name, "must be http/protobuf, the only protocol that is spoken; its usual port is 4318"}
		}
	}
	return nil
}

// checkEndpoints refuses what the exporter would replace by its default with no more than
// a line that quotes it.
func checkEndpoints(s signal) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		switch {
		case err != nil || u.Host == "":
			return &SettingError{name, "must be a URL like http://127.0.0.1:4318"}
		case u.User != nil:
			return &SettingError{name, "must have no user and no password, which would not be sent; give keys in OTEL_EXPORTER_OTLP_HEADERS"}
		}
	}
	return nil
}

// checkHeaders refuses what the exporter would leave out with no more than a line that
// quotes it.
func checkHeaders(s signal) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"} {
		for header := range strings.SplitSeq(os.Getenv(name), ",") {
			key, value, found := strings.Cut(header, "=")
			_, err := url.PathUnescape(value)
			if header = strings.TrimSpace(header); header != "" && (!found || strings.TrimSpace(key) == "" || err != nil) {
				return &SettingError{name, "cannot be read: want NAME=VALUE,NAME=VALUE, with values escaped as in URLs"}
			}
		}
	}
	return nil
}

func endpointURL(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &SettingError{"--otlp-endpoint", "must be a URL like http://127.0.0.1:4318"}
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &SettingError{"--otlp-endpoint", "must be a plain URL; give keys in OTEL_EXPORTER_OTLP_HEADERS"}
	}
	return u, nil
}
