package scripts

import (
	"context"
	"log/slog"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// Log logs a message of a script with a level of redis.log, 0 to 3. about are names and values.
func Log(to *slog.Logger, level int, message string, about ...any) {
	levels := [...]slog.Level{slog.LevelDebug, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn}
	to.Log(context.Background(), levels[level], "script: "+string(command.Shown([]byte(message), 1<<10)), about...)
}
