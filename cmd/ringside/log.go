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

func (o logOptions) slogLevel() slog.Level {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	return levels[o.level]
}

// logger returns a logger of the given level, which may change while it is in use.
func (o logOptions) logger(w io.Writer, level *slog.LevelVar) *slog.Logger {
	level.Set(o.slogLevel())
	options := &slog.HandlerOptions{Level: level}
	if o.format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
