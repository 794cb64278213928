//go:build !linux

package client

import "time"

// A clock is a timer of the runtime. It rings once at a time.
type clock struct {
	timer *time.Timer
	end   chan struct{}
}

func newClock() (*clock, error) {
	return &clock{time.NewTimer(time.Hour), make(chan struct{})}, nil
}

// ring has wait return after so long.
func (c *clock) ring(after time.Duration) { c.timer.Reset(after) }

// wait returns false once the clock is closed.
func (c *clock) wait() bool {
	select {
	case <-c.timer.C:
		return true
	case <-c.end:
		return false
	}
}

func (c *clock) close() {
	c.timer.Stop()
	close(c.end)
}
