package table

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/fakenet"
)

// A server that is away is told of as a warning, once a minute, however often it is tried.
func TestWhoIsAwayIsToldOnceAMinute(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var text bytes.Buffer
		log := newLogger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelInfo})))
		for range 4 * 90 { // a minute and a half
			log.Error("failed to heartbeat to", "peer", "b", "error", "refused")
			log.Error("failed to heartbeat to", "peer", "c", "error", "refused")
			log.Error("failed to decode incoming command", "error", "closed")
			time.Sleep(time.Second / 4)
		}
		log.Error("failed to commit logs", "error", "disk")
		log.Error("failed to commit logs", "error", "disk")
		said := text.String()
		for line, times := range map[string]int{
			"level=WARN msg=\"raft: failed to heartbeat to\" peer=b err=refused": 2,
			"level=WARN msg=\"raft: failed to heartbeat to\" peer=c err=refused": 2,
			"level=ERROR msg=\"raft: failed to commit logs\" err=disk":           2,
			"level=": 6,
		} {
			if n := strings.Count(said, line); n != times {
				t.Errorf("%d times instead of %d: %s\n%s", n, times, line, said)
			}
		}
	})
}
