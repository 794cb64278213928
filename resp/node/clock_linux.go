package node

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// clockSlack is by how much a clock may be off, a small part of the margin of a lease.
const clockSlack = 10 * time.Millisecond

// A bootClock is CLOCK_BOOTTIME, which goes on while the machine is suspended, at the
// price of the clocks that a process reads without the kernel: it costs ten times less,
// and every reply needs it.
//
// While the machine is suspended, the clock on the wall and CLOCK_BOOTTIME go on and the
// monotonic clock stands still. So as long as the difference of wall and monotonic is
// what it was, that of CLOCK_BOOTTIME and monotonic is, too. If it has changed, the
// machine was suspended or somebody has set the clock: then the kernel is asked.
type bootClock struct{ sample atomic.Pointer[clockSample] }

// A clockSample is how far clocks are ahead of the monotonic one.
type clockSample struct{ wall, boot time.Duration }

func (b *bootClock) now() time.Duration {
	for {
		t := time.Now()
		mono := t.Sub(began)
		wall := time.Duration(t.UnixNano()) - mono
		if s := b.sample.Load(); s != nil && wall-s.wall < clockSlack && s.wall-wall < clockSlack {
			return mono + s.boot
		}
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			return mono // there is none before Linux 2.6.39
		}
		// A sample that took long, since the process was stopped in its midst, would be
		// off by as much for good.
		if monotonic()-mono < clockSlack {
			b.sample.Store(&clockSample{wall: wall, boot: time.Duration(ts.Nano()) - mono})
		}
	}
}

func systemClock() func() time.Duration { return new(bootClock).now }
