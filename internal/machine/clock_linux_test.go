package machine

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

// A jump of the wall that the kernel's clock does not explain counts against a node's own
// lease, and against no other.
func TestClockOfOwnLeaseGoesAheadAfterAPause(t *testing.T) {
	c := new(bootClock)
	want := c.now()
	if got := c.passed(); got < want || got > want+time.Minute {
		t.Errorf("%v after %v before any pause", got, want)
	}
	s := *c.sample.Load()
	c.sample.Store(&clockSample{wall: s.wall - time.Hour, boot: s.boot})
	if got := c.now(); got < want-clockSlack || got > want+time.Minute {
		t.Errorf("the leases of others: %v after %v", got, want)
	}
	if got := c.passed(); got < want+time.Hour-clockSlack || got > want+time.Hour+time.Minute {
		t.Errorf("the own lease: %v after %v and an hour", got, want)
	}
}

func TestOnlyUnexplainedJumpsAheadArePauses(t *testing.T) {
	s := (*clockSample)(nil).next(5*time.Hour, time.Hour)
	for _, step := range []struct{ wall, boot, paused time.Duration }{
		{0, 0, 0},
		{time.Hour, time.Hour, 0},                       // suspended
		{-time.Hour, 0, 0},                              // set back
		{pauseLeast - 1, 0, 0},                          // set a little
		{time.Second, 0, time.Second},                   // paused
		{3 * time.Second, time.Second, 2 * time.Second}, // both
	} {
		before := s.paused
		s = s.next(s.wall+step.wall, s.boot+step.boot)
		if got := s.paused - before; got != step.paused {
			t.Errorf("%+v: %v", step, got)
		}
	}
}

func BenchmarkClock(b *testing.B) {
	c := new(bootClock)
	for b.Loop() {
		c.now()
	}
}
