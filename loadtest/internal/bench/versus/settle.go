package main

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

const (
	settleWindow = 200 * time.Millisecond
	// settledUse is what a calm server may use of a core in a window: two ticks of
	// the clock that counts it, which may fall anywhere.
	settledUse = 2 * cluster.CPUTick
	settleMost = 30 * time.Second
)

// settle waits until a server has finished what it does in the background, such
// as compactions, or for limit. Where its use of the CPU is not known it waits
// only for a rewrite of the AOF.
func settle(ctx context.Context, s *server, limit time.Duration) {
	ctx, cancel := s.guard(ctx, limit)
	defer cancel()
	for {
		_, before, known := cluster.CPUTime(s.PID())
		select {
		case <-ctx.Done():
			return
		case <-time.After(settleWindow):
		}
		_, after, _ := cluster.CPUTime(s.PID())
		if (!known || after-before <= settledUse) && !rewriting(ctx, s) {
			return
		}
	}
}

func rewriting(ctx context.Context, s *server) bool {
	c, err := dial(ctx, s.addr)
	if err != nil {
		return false
	}
	defer c.Close()
	info, err := c.do("INFO", "persistence")
	if err != nil {
		return false
	}
	state, _ := infoField(info, "aof_rewrite_in_progress")
	return state == "1"
}
