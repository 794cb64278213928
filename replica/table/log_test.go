package table

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLoggerLevelsOfRaftLines(t *testing.T) {
	var text bytes.Buffer
	log := newLogger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.Error("failed to heartbeat to", "peer", "b", "error", "refused")
	log.Error("failed to commit logs", "error", "disk")
	log.Error("failed to decode incoming command", "error", "closed")
	log.Warn("failed to contact quorum of nodes, stepping down")
	log.Warn("heartbeat timeout reached, starting election", "last-leader-addr", "", "last-leader-id", "")
	log.Warn("heartbeat timeout reached, starting election", "last-leader-addr", "a", "last-leader-id", "a")
	log.Info("entering leader state")
	var levels []string
	for line := range strings.Lines(text.String()) {
		for _, word := range strings.Fields(line) {
			if level, ok := strings.CutPrefix(word, "level="); ok {
				levels = append(levels, level)
			}
		}
	}
	const want = "DEBUG ERROR DEBUG DEBUG INFO INFO DEBUG"
	if got := strings.Join(levels, " "); got != want {
		t.Errorf("levels %s, want %s\n%s", got, want, &text)
	}
}
