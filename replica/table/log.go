package table

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger hands the library's log lines to slog. What it calls information is of use
// only to who looks into an election, so it counts as debugging here. What it calls an
// error is a warning if it is about another server, which may just be away, and is told
// once a minute: the library says it with every attempt.
type logger struct {
	hclog.Logger // answers whatever is not about writing lines
	to           *slog.Logger
	told         *told
}

// tellAgainAfter is for how long a line about the same server is not repeated.
const tellAgainAfter = time.Minute

// told are the lines of late about other servers.
type told struct {
	mu    sync.Mutex
	lines map[string]time.Time
}

func newLogger(to *slog.Logger) hclog.Logger {
	return &logger{hclog.NewNullLogger(), to, &told{lines: make(map[string]time.Time)}}
}

func (l *logger) Log(level hclog.Level, msg string, args ...any) {
	to := slog.LevelDebug
	peer, aboutPeer := about(args)
	switch {
	case msg == "failed to decode incoming command", msg == "failed to flush response":
		// A connection has ended, which whoever made it sees.
	case level == hclog.Warn && noLeaderYet(args):
		to = slog.LevelInfo // an election at the start is none after a failure
	case level == hclog.Warn, level == hclog.Error && aboutPeer:
		to = slog.LevelWarn
	case level == hclog.Error:
		to = slog.LevelError
	}
	if aboutPeer && to > slog.LevelDebug && !l.told.first(msg+" "+peer) {
		to = slog.LevelDebug
	}
	l.to.Log(context.Background(), to, "raft: "+msg, keys(args)...)
}

// first tells whether a line has not been told for a while, and takes it that it is now.
func (t *told) first(line string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Sub(t.lines[line]) < tellAgainAfter {
		return false
	}
	for other, at := range t.lines {
		if now.Sub(at) >= tellAgainAfter {
			delete(t.lines, other)
		}
	}
	t.lines[line] = now
	return true
}

// about tells which other server a line is about.
func about(args []any) (peer string, is bool) {
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "peer", "target", "server-id":
			return fmt.Sprint(args[i+1]), true
		}
	}
	return "", false
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
func (l *logger) Named(string) hclog.Logger      { return l }
func (l *logger) ResetNamed(string) hclog.Logger { return l }

func (l *logger) With(args ...any) hclog.Logger {
	return &logger{l.Logger, l.to.With(keys(args)...), l.told}
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
