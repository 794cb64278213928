package rdb

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/store/redistest"
)

// startRedis runs a redis-server of its own for the test and returns a client of it.
func startRedis(t *testing.T) *redis.Client {
	t.Helper()
	c := redistest.Client(&redis.Options{Addr: redistest.Start(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
