package node

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func boottime(t testing.TB) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		t.Skip(err)
	}
	return time.Duration(ts.Nano())
}

func TestClockIsTheOneThatRunsThroughSuspension(t *testing.T) {
	c := new(bootClock)
	for range 3 {
		before := boottime(t)
		now := c.now()
		after := boottime(t)
		if now < before-clockSlack || now > after+clockSlack {
			t.Errorf("%v, between %v and %v", now, before, after)
		}
	}
}

// A suspension shows as a jump of the clock on the wall.
func TestClockLooksAgainAfterASuspension(t *testing.T) {
	c := new(bootClock)
	want := c.now()
	s := *c.sample.Load()
	c.sample.Store(&clockSample{wall: s.wall - time.Hour, boot: s.boot - time.Hour})
	if got := c.now(); got < want-clockSlack || got > want+time.Minute {
		t.Errorf("%v after %v", got, want)
	}
}

func BenchmarkClock(b *testing.B) {
	c := new(bootClock)
	for b.Loop() {
		c.now()
	}
}
