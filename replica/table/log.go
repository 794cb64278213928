package table

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// logger hands the library's log lines to slog. What it calls information is of use
// only to who looks into an election, so it counts as debugging here.
type logger struct {
	hclog.Logger // answers whatever is not about writing lines
	to           *slog.Logger
}

func newLogger(to *slog.Logger) hclog.Logger { return &logger{hclog.NewNullLogger(), to} }

func (l *logger) Log(level hclog.Level, msg string, args ...any) {
	to := slog.LevelDebug
	switch level {
	case hclog.Warn:
		if to = slog.LevelWarn; noLeaderYet(args) {
			to = slog.LevelInfo // an election at the start is none after a failure
		}
	case hclog.Error:
		to = slog.LevelError
	}
	l.to.Log(context.Background(), to, "raft: "+msg, keys(args)...)
}

// noLeaderYet tells whether a line says that no leader was known before.
func noLeaderYet(args []any) bool {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "last-leader-id" {
			return fmt.Sprint(args[i+1]) == ""
		}
	}
	return false
}

func (l *logger) Trace(string, ...any)           {}
func (l *logger) Debug(msg string, args ...any)  { l.Log(hclog.Debug, msg, args...) }
func (l *logger) Info(msg string, args ...any)   { l.Log(hclog.Info, msg, args...) }
func (l *logger) Warn(msg string, args ...any)   { l.Log(hclog.Warn, msg, args...) }
func (l *logger) Error(msg string, args ...any)  { l.Log(hclog.Error, msg, args...) }
func (l *logger) IsDebug() bool                  { return true }
func (l *logger) IsInfo() bool                   { return true }
func (l *logger) IsWarn() bool                   { return true }
func (l *logger) IsError() bool                  { return true }
func (l *logger) With(args ...any) hclog.Logger  { return &logger{l.Logger, l.to.With(keys(args)...)} }
func (l *logger) Named(string) hclog.Logger      { return l }
func (l *logger) ResetNamed(string) hclog.Logger { return l }

// keys gives errors the key that they have everywhere else.
func keys(args []any) []any {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "error" {
			args[i] = "err"
		}
	}
	return args
}
