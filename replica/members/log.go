package members

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// Serf and memberlist write lines such as "[WARN] memberlist: what happened". An
// error of theirs is seldom one of the node (a peer that died answers no ping), and
// what they say of members this package says itself, so levels go down by one.
var gossipLevels = map[string]slog.Level{
	"[ERR]":   slog.LevelWarn,
	"[ERROR]": slog.LevelWarn,
	"[WARN]":  slog.LevelInfo,
	"[INFO]":  slog.LevelDebug,
	"[DEBUG]": slog.LevelDebug,
	"[TRACE]": slog.LevelDebug,
}

// maxLogLine keeps what strangers send from filling the log: some lines print whole
// tags.
const maxLogLine = 500

// gossipLog is what Serf's logger writes to; a call is a line. It may be used by
// several goroutines, and after Close.
type gossipLog struct {
	logger *slog.Logger
	// refused is told of strangers with another key, of whom memberlist tells only
	// its log. It must not wait.
	refused func(err error)
}

func newGossipLogger(logger *slog.Logger, refused func(error)) *log.Logger {
	return log.New(&gossipLog{logger, refused}, "", 0)
}

// Write implements [io.Writer]. It never fails.
func (g *gossipLog) Write(line []byte) (int, error) {
	text := strings.TrimRight(string(line[:min(len(line), maxLogLine)]), "\n")
	level := slog.LevelInfo
	if word, rest, ok := strings.Cut(text, " "); ok {
		if l, known := gossipLevels[word]; known {
			level, text = l, rest
		}
	}
	source := "serf"
	if rest, ok := strings.CutPrefix(text, "memberlist: "); ok {
		source, text = "memberlist", rest
	} else {
		text = strings.TrimPrefix(text, "serf: ")
	}
	if err := inboundKeyFault(text); err != nil {
		g.refused(err)
		return len(line), nil
	}
	g.logger.LogAttrs(context.Background(), level, text, slog.String("source", source))
	return len(line), nil
}
