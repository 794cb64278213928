package members

import (
	"context"
	"log"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Serf and memberlist write lines such as "[WARN] memberlist: what happened". Their errors
// come with every stop of a peer, which answers no ping then, and this package says itself
// that a node has failed. So none of their lines is a warning.
var gossipLevels = map[string]slog.Level{
	"[ERR]":   slog.LevelInfo,
	"[ERROR]": slog.LevelInfo,
	"[WARN]":  slog.LevelDebug,
	"[INFO]":  slog.LevelDebug,
	"[DEBUG]": slog.LevelDebug,
	"[TRACE]": slog.LevelDebug,
}

// Bounds that keep what strangers send from filling the log: a packet is enough to
// make memberlist write a line, and some lines print whole tags.
const (
	maxLogLine  = 500 // bytes of a line
	maxLogLines = 100 // lines of a second
)

// gossipLog is what Serf's logger writes to; a call is a line. It may be used by
// several goroutines, and after Close.
type gossipLog struct {
	logger *slog.Logger
	// refused is called for strangers with another key, which memberlist reports only
	// its log. It must not wait.
	refused func(err error)
	limit   limiter
}

func newGossipLogger(logger *slog.Logger, refused func(error)) *log.Logger {
	return log.New(&gossipLog{logger: logger, refused: refused}, "", 0)
}

// Write implements [io.Writer]. It never fails.
func (g *gossipLog) Write(line []byte) (int, error) {
	ok, dropped := g.limit.allow(time.Now().Unix())
	if dropped > 0 {
		g.logger.Warn("lines of the gossip log were suppressed", slog.Int("lines", dropped))
	}
	if !ok {
		return len(line), nil
	}
	text := strings.TrimRight(string(line[:min(len(line), maxLogLine)]), "\n")
	level := slog.LevelInfo
	if word, rest, ok := strings.Cut(text, " "); ok {
		if l, known := gossipLevels[word]; known {
			level, text = l, rest
		}
	}
	if strings.Contains(text, errLooks.Error()) {
		level = slog.LevelDebug
	}
	source := "serf"
	if rest, ok := strings.CutPrefix(text, "memberlist: "); ok {
		source, text = "memberlist", rest
	} else {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "serf: "), "transport: ")
	}
	if err := inboundKeyFault(text); err != nil {
		g.refused(err)
		return len(line), nil
	}
	g.logger.LogAttrs(context.Background(), level, text, slog.String("source", source))
	return len(line), nil
}

// limiter lets maxLogLines through in each second.
type limiter struct {
	mu             sync.Mutex
	second         int64
	lines, dropped int
}

// allow returns also, once in a new second, how many lines were dropped before it.
func (l *limiter) allow(second int64) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second != l.second {
		dropped = l.dropped
		l.second, l.lines, l.dropped = second, 0, 0
	}
	if l.lines++; l.lines > maxLogLines {
		l.dropped++
		return false, dropped
	}
	return true, dropped
}
