package table

import (
	"context"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// logger hands the library's log lines to slog. Its information and warnings come with every
// start, join and stop, so they count as debugging here; elections count as information. Its
// errors about another server are debugging, too: package members says that a node has failed,
// and the engine that this node has no lease.
type logger struct {
	hclog.Logger // answers everything but the writing of lines
	to           *slog.Logger
}

func newLogger(to *slog.Logger) hclog.Logger { return &logger{hclog.NewNullLogger(), to} }

func (l *logger) Log(level hclog.Level, msg string, args ...any) {
	to := slog.LevelDebug
	switch {
	case msg == "failed to decode incoming command", msg == "failed to flush response":
		// A connection has ended, which its other end logs.
	case level == hclog.Warn && isElection(args):
		to = slog.LevelInfo
	case level == hclog.Error && !isAboutPeer(args):
		to = slog.LevelError
	}
	l.to.Log(context.Background(), to, "raft: "+msg, keys(args)...)
}

// isAboutPeer reports whether a line is about another server.
func isAboutPeer(args []any) bool {
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "peer", "target", "server-id":
			return true
		}
	}
	return false
}

// isElection reports whether a line says that an election begins.
func isElection(args []any) bool {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "last-leader-id" {
			return true
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
func (l *logger) Named(string) hclog.Logger      { return l }
func (l *logger) ResetNamed(string) hclog.Logger { return l }

func (l *logger) With(args ...any) hclog.Logger {
	return &logger{l.Logger, l.to.With(keys(args)...)}
}

// keys gives errors the key that they have everywhere else.
func keys(args []any) []any {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "error" {
			args[i] = "err"
		}
	}
	return args
}
