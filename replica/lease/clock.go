package lease

import (
	"errors"
	"time"
)

// ErrClock says that the clock by which this node's lease is counted stands still.
var ErrClock = errors.New("the clock of the leases stands still")

// clockCheck is how often the clock of leases is compared with the timers of the process. A
// clock that stops is noticed within two of these, so a lease that it keeps from ending is
// over before the leader takes it for over, by the margin of both sides.
const ClockCheck = 100 * time.Millisecond

// A clockWatch compares the clock of leases with the monotonic clock of the process. By a
// clock that stands still no lease would ever end.
type ClockWatch struct {
	At      time.Duration
	Real    time.Time
	Stopped bool
}

// hasStopped returns true when the clock is found to have stopped. A clock that goes at less than
// half of its speed counts as stopped.
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

// revoke ends the lease at once.
func (l *Lease) Revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Until, l.holder.pending = 0, nil
	l.Until.Store(0)
}
