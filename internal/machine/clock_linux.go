package machine

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
// machine was suspended or the clock was set: then the kernel is asked.
//
// A machine that its host pauses (for a snapshot, or to move it) does not count that time: on
// many, CLOCK_BOOTTIME stands still in it, and only the clock on the wall is set ahead when
// the machine goes on. So a jump of the wall that CLOCK_BOOTTIME does not explain is either
// such a pause, or an administrator's. A node's own lease takes it for a pause: see passed.
type bootClock struct{ sample atomic.Pointer[clockSample] }

// A clockSample is how far clocks are ahead of the monotonic one.
type clockSample struct {
	wall, boot time.Duration
	// paused is what the wall has jumped ahead without CLOCK_BOOTTIME, in all.
	paused time.Duration
}

// pauseLeast is the shortest jump of the wall that counts as a pause of the machine: less is
// within the margin of a lease.
const pauseLeast = 100 * time.Millisecond

// now is the time since the machine was started.
func (b *bootClock) now() time.Duration {
	mono, s := b.look()
	return mono + s.boot
}

// passed is now, and ahead of it by the pauses of the machine. A lease that is counted by it
// is over after a pause, for as long as until it is renewed. It says nothing about other
// nodes' leases: those are counted by now.
func (b *bootClock) passed() time.Duration {
	mono, s := b.look()
	return mono + s.boot + s.paused
}

// look returns the monotonic time, and how far the other clocks are ahead of it.
func (b *bootClock) look() (mono time.Duration, s clockSample) {
	for {
		t := time.Now()
		mono := t.Sub(began)
		wall := time.Duration(t.UnixNano()) - mono
		last := b.sample.Load()
		if last != nil && wall-last.wall < clockSlack && last.wall-wall < clockSlack {
			return mono, *last
		}
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			return mono, clockSample{} // there is none before Linux 2.6.39
		}
		// A sample during which the process was stopped would be wrong for ever.
		if monotonic()-mono < clockSlack {
			b.sample.CompareAndSwap(last, last.next(wall, time.Duration(ts.Nano())-mono))
		}
	}
}

// next is the sample after this one, which may be nil.
func (s *clockSample) next(wall, boot time.Duration) *clockSample {
	n := &clockSample{wall: wall, boot: boot}
	if s != nil {
		n.paused = s.paused
		if jump := (wall - s.wall) - (boot - s.boot); jump >= pauseLeast {
			n.paused += jump
		}
	}
	return n
}

// Clocks returns the clock by which a node counts the leases of others, and that by which
// it counts its own.
func Clocks() (clock, own func() time.Duration) {
	b := new(bootClock)
	return b.now, b.passed
}
