package command

import (
	"sync"
	"sync/atomic"
	"time"
)

// An Alarm has a command that waits run again at a time, beside what its keys bring: for what time alone
// brings. It is safe for concurrent use. A nil Alarm never rings.
type Alarm struct {
	mu    sync.Mutex
	at    time.Time // when it rings, zero: not yet known
	ring  func()    // once the command waits
	timer atomic.Pointer[time.Timer]
	over  atomic.Bool
}

// Set has the alarm ring after d, unless it rings earlier anyhow.
func (a *Alarm) Set(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := time.Now().Add(d)
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	a.arm()
}

// Start tells the alarm what it does when it rings, at most once. The command is registered as one that
// waits.
func (a *Alarm) Start(ring func()) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ring = ring
	a.arm()
}

// arm sets the timer, if all that it needs is known. mu is held.
func (a *Alarm) arm() {
	if a.ring == nil || a.at.IsZero() || a.over.Load() {
		return
	}
	timer := time.AfterFunc(max(time.Until(a.at), 0), a.ring)
	if old := a.timer.Swap(timer); old != nil {
		old.Stop()
	}
	if a.over.Load() { // Stop may have missed this timer
		timer.Stop()
	}
}

// Stop ends the alarm. It takes no lock.
func (a *Alarm) Stop() {
	if a == nil {
		return
	}
	a.over.Store(true)
	if timer := a.timer.Load(); timer != nil {
		timer.Stop()
	}
}
