package cli

import (
	"io"
	"log/slog"
)

// LogFlags say how a command logs to standard error.
type LogFlags struct {
	LogFormat string `group:"log" default:"text" enum:"text,json" help:"Format of the log on standard error: text or json."`
	LogLevel  string `group:"log" default:"${loglevel}" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
}

// Logger builds the logger that the flags describe.
func (f LogFlags) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	// The flag's enum admits only names that slog knows.
	_ = level.UnmarshalText([]byte(f.LogLevel))
	options := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
