//go:build !linux

package client

import "time"

// A timerClock is a timer of the runtime.
type timerClock struct {
	timer *time.Timer
	end   chan struct{}
}

func newClock() (clock, error) {
	return &timerClock{time.NewTimer(time.Hour), make(chan struct{})}, nil
}

func (c *timerClock) ring(after time.Duration) { c.timer.Reset(after) }

func (c *timerClock) wait() bool {
	select {
	case <-c.timer.C:
		return true
	case <-c.end:
		return false
	}
}

func (c *timerClock) close() {
	c.timer.Stop()
	close(c.end)
}
