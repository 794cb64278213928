package rdb

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
)

// startRedis returns a client of a redis-server that no other test uses meanwhile.
func startRedis(t *testing.T) *redis.Client {
	t.Helper()
	c := redistest.Client(&redis.Options{Addr: redistest.Start(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
