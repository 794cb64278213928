package replica

import (
	"errors"
	"time"
)

// ErrClock says that the clock by which this node's lease is counted stands still.
var ErrClock = errors.New("the clock of the leases stands still")

// clockCheck is how often the clock of leases is compared with the timers of the process. A
// clock that stops is noticed within two of these, so a lease that it keeps from ending is
// over before the leader takes it for over, by the margin of both sides.
const clockCheck = 100 * time.Millisecond

// A clockWatch compares the clock of leases with the monotonic clock of the process. By a
// clock that stands still no lease would ever end.
type clockWatch struct {
	at      time.Duration
	real    time.Time
	stopped bool
}

// hasStopped returns true when the clock is found to have stopped. A clock that goes at less than
// half of its speed counts as stopped.
func (w *clockWatch) hasStopped(at time.Duration, real time.Time) bool {
	was := w.stopped
	passed := real.Sub(w.real)
	if passed < clockCheck/2 {
		return false
	}
	w.stopped = at-w.at < passed/2
	w.at, w.real = at, real
	return w.stopped && !was
}

// revoke ends the lease at once.
func (l *Lease) revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.until, l.holder.pending = 0, nil
	l.until.Store(0)
}
