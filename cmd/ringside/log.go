package main

import (
	"io"
	"log/slog"
)

var (
	logLevels  = []string{"debug", "info", "warn", "error"}
	logFormats = []string{"text", "json"}
)

// logOptions are how the log looks.
type logOptions struct{ level, format string }

func defaultLogOptions() logOptions { return logOptions{level: "info", format: "text"} }

func (o logOptions) logger(w io.Writer) *slog.Logger {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	options := &slog.HandlerOptions{Level: levels[o.level]}
	if o.format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
