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
	debt int64 // bytes sent beyond the rate so far
	paid time.Time
	rate int64 // bytes a second; 0: no limit
}

// spend records bytes that were sent.
func (l *byteLimiter) spend(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate > 0 {
		l.debt += n
	}
}

// wait returns how long a copy must wait under a rate, which may have changed.
func (l *byteLimiter) wait(rate int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if rate != l.rate {
		// Bytes sent under another rate do not count.
		l.rate, l.debt, l.paid = rate, 0, now
	}
	if rate == 0 {
		return 0
	}
	// A float, since bytes × nanoseconds may overflow.
	l.debt = max(0, l.debt-int64(now.Sub(l.paid).Seconds()*float64(rate)))
	l.paid = now
	return time.Duration(float64(l.debt) / float64(rate) * float64(time.Second))
}

// restForClients waits for a time in proportion to the duration of a copy's step and to the rate of
// client requests.
func (e *Engine) restForClients(ctx context.Context, worked time.Duration) {
	if e.cfg.Requests == nil {
		return
	}
	busy := min(1, e.cfg.Requests()/busyRequests)
	if d := time.Duration(maxRestFactor * busy * float64(worked)); d > 100*time.Microsecond {
		locks.Pause(ctx, min(d, pollInterval))
	}
}
