package budget

import (
	"errors"
	"iter"
	"sync"
	"sync/atomic"
)

// ErrClosed is why a request that waited for memory is not read.
var ErrClosed = errors.New("resp: connection closed while a request waited for memory")

// An Account is what one connection holds. The zero value holds nothing.
type Account struct {
	held int64 // bytes, under the budget's lock
	// Closed is set when the connection closes.
	Closed atomic.Bool
}

// A Budget has methods that may be called from several goroutines at once.
type Budget struct {
	// Limit is how many bytes there are.
	Limit *atomic.Int64
	// Free is how many bytes each connection may have: few enough that one with no more keeps nobody waiting.
	Free int64
	// Few is how many bytes a remote waiter gets in any case.
	Few int64
	// Slow are the connections whose clients keep the server waiting, each with what closes it, given the bytes
	// that it holds. It is called under the budget's lock.
	Slow iter.Seq2[*Account, func(held int64)]
	// RemoteWaiters are the bytes that commands of other nodes' clients take while they wait here.
	// They count as used, and change without mu.
	RemoteWaiters atomic.Int64

	mu    sync.Mutex
	freed *sync.Cond
	used  int64
	large *Account // the one that may exceed the limit
	wait  int      // connections that wait
	ended bool
}

// Init makes the budget usable.
func (b *Budget) Init() { b.freed = sync.NewCond(&b.mu) }

// Acquire takes n bytes for a request of c, waiting until they are there; it
// returns false when the connection or the server closes.
func (b *Budget) Acquire(c *Account, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && !c.Closed.Load() {
		if b.fits(c, n) {
			b.add(c, n)
			return true
		}
		b.wait++
		b.freed.Wait()
		b.wait--
	}
	return false
}

// Take takes n bytes whether they fit or not: few enough that clients, whose number
// is bounded, cannot take much that way.
func (b *Budget) Take(c *Account, n int64) {
	b.mu.Lock()
	b.add(c, n)
	b.mu.Unlock()
}

// Spare takes n bytes for what goes better with them but goes without, as long as half
// of the budget stays for others; it reports whether it has.
func (b *Budget) Spare(c *Account, n int64) bool { return b.takeWithin(c, n, b.Limit.Load()/2) }

// Borrow takes n bytes if they are there: no connection may exceed the limit for them.
func (b *Budget) Borrow(c *Account, n int64) bool { return b.takeWithin(c, n, b.Limit.Load()) }

func (b *Budget) takeWithin(c *Account, n, limit int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total()+n > limit {
		return false
	}
	b.add(c, n)
	return true
}

// add has c hold n bytes more. The caller holds mu.
func (b *Budget) add(c *Account, n int64) {
	b.used += n
	c.held += n
}

// total is what is used. The caller holds mu.
func (b *Budget) total() int64 { return b.used + b.RemoteWaiters.Load() }

// fits reports whether c may take n bytes more. If they exceed the limit and no
// other connection does, c is the one that may. The caller holds mu.
func (b *Budget) fits(c *Account, n int64) bool {
	if b.total()+n <= b.Limit.Load() || b.large == c {
		return true
	}
	if b.large != nil && !b.large.Closed.Load() && b.large.held > b.Free {
		return false
	}
	b.large = c
	return true
}

// Charge takes n bytes for replies of c without waiting, and reports whether they
// may be kept.
func (b *Budget) Charge(c *Account, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := b.fits(c, n) || b.closeSlowest()
	b.add(c, n)
	return fits
}

// Release gives n bytes back.
func (b *Budget) Release(c *Account, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.add(c, -n)
	if b.large == c && c.held <= b.Free {
		b.large = nil
	}
	if b.wait > 0 {
		b.freed.Broadcast()
	}
	b.mu.Unlock()
}

// InUse returns how many bytes are taken.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total()
}

// Host takes n bytes for a remote waiter, or reports that they are not there.
func (b *Budget) Host(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.Few && b.total()+n > b.Limit.Load() {
		return false
	}
	b.RemoteWaiters.Add(n)
	return true
}

// Of returns how many bytes c holds.
func (b *Budget) Of(c *Account) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return c.held
}

// Relieve is called once a second. It looks after those who wait: the slowest client is closed, and those
// whose connection was closed meanwhile wake up.
func (b *Budget) Relieve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait > 0 {
		b.closeSlowest()
		b.freed.Broadcast()
	}
}

// End lets everybody who waits go, in vain.
func (b *Budget) End() {
	b.mu.Lock()
	b.ended = true
	b.freed.Broadcast()
	b.mu.Unlock()
}

// Occupy has a connection be the one that may exceed the limit, and hold n bytes more that do not count as
// used, so that a test sees what becomes of all others.
func (b *Budget) Occupy(c *Account, n int64) {
	b.mu.Lock()
	c.held += n
	b.large = c
	b.mu.Unlock()
}

// closeSlowest closes the slow connection that holds the most memory, and reports whether there is one. The
// caller holds mu.
func (b *Budget) closeSlowest() bool {
	var slowest *Account
	var closeIt func(int64)
	for c, closes := range b.Slow {
		if slowest == nil || c.held > slowest.held {
			slowest, closeIt = c, closes
		}
	}
	if slowest == nil {
		return false
	}
	closeIt(slowest.held)
	return true
}
