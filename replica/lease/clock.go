package lease

import (
	"errors"
	"time"
)

// ErrClock says that the clock that counts this node's lease stands still.
var ErrClock = errors.New("the clock of the leases stands still")

// ClockCheck is the interval at which the clock of leases is compared with the timers of the
// process. A stopped clock is noticed within two intervals. The lease that it keeps from expiring
// then ends before the leader counts it as over, by the margin of both sides.
const ClockCheck = 100 * time.Millisecond

// A ClockWatch compares the clock of leases with the monotonic clock of the process. With a clock
// that stands still no lease would ever expire.
type ClockWatch struct {
	At      time.Duration
	Real    time.Time
	Stopped bool
}

// HasStopped returns true when it finds that the clock has stopped. A clock at less than half speed
// counts as stopped.
func (w *ClockWatch) HasStopped(at time.Duration, real time.Time) bool {
	was := w.Stopped
	passed := real.Sub(w.Real)
	if passed < ClockCheck/2 {
		return false
	}
	w.Stopped = at-w.At < passed/2
	w.At, w.Real = at, real
	return w.Stopped && !was
}

// Revoke ends the lease at once.
func (l *Lease) Revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Until, l.holder.pending = 0, nil
	l.Until.Store(0)
}
