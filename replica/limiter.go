package replica

import (
	"context"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"sync"
	"time"
)

// A byteLimiter bounds how many bytes a second the copies of a node send together.
type byteLimiter struct {
	mu   sync.Mutex
	debt int64 // bytes that were sent and are not yet paid for
	paid time.Time
	rate int64 // bytes a second; 0 is no bound
}

// take notes what has been sent.
func (l *byteLimiter) spend(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate > 0 {
		l.debt += n
	}
}

// wait returns how long a copy has to wait under a rate, which may have changed.
func (l *byteLimiter) wait(rate int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if rate != l.rate {
		// What was sent under another rate is not held against this one.
		l.rate, l.debt, l.paid = rate, 0, now
	}
	if rate == 0 {
		return 0
	}
	// A float, since bytes times nanoseconds need not fit.
	l.debt = max(0, l.debt-int64(now.Sub(l.paid).Seconds()*float64(rate)))
	l.paid = now
	return time.Duration(float64(l.debt) / float64(rate) * float64(time.Second))
}

// restForClients leaves the machine to clients for a time in proportion to what a step of a copy
// has taken, and to how much clients want.
func (e *Engine) restForClients(ctx context.Context, worked time.Duration) {
	if e.cfg.Requests == nil {
		return
	}
	busy := min(1, e.cfg.Requests()/busyRequests)
	if d := time.Duration(maxRestFactor * busy * float64(worked)); d > 100*time.Microsecond {
		locks.Pause(ctx, min(d, pollInterval))
	}
}
