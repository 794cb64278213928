package client

import (
	"container/heap"
	"sync"
	"time"
)

// An alarm wakes those up whose time has come, to some ten microseconds: a timer of the
// runtime may be a millisecond late while nothing runs, which would be most of a latency.
type alarm struct {
	now   func() time.Duration
	clock *clock
	done  sync.WaitGroup

	mu    sync.Mutex
	bells bells
	next  time.Duration // when the clock rings next; 0: never
	ended bool
}

// A bell is rung once at a time. The zero bell is not set.
type bell struct {
	at    time.Duration
	wake  func()
	place int // in the heap, from 1 on; 0 if it is not set
}

type bells []*bell

func (b bells) Len() int           { return len(b) }
func (b bells) Less(i, j int) bool { return b[i].at < b[j].at }
func (b bells) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].place, b[j].place = i+1, j+1
}

func (b *bells) Push(x any) {
	*b = append(*b, x.(*bell))
	(*b)[len(*b)-1].place = len(*b)
}

func (b *bells) Pop() any {
	last := (*b)[len(*b)-1]
	last.place = 0
	*b = (*b)[:len(*b)-1]
	return last
}

func newAlarm(now func() time.Duration) (*alarm, error) {
	c, err := newClock()
	if err != nil {
		return nil, err
	}
	a := &alarm{now: now, clock: c}
	a.done.Go(a.run)
	return a, nil
}

// set has wake called at a time, by another goroutine: it must not wait. A bell that was
// set before is set anew.
func (a *alarm) set(b *bell, at time.Duration, wake func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		wake()
		return
	}
	b.at, b.wake = at, wake
	if b.place > 0 {
		heap.Fix(&a.bells, b.place-1)
	} else {
		heap.Push(&a.bells, b)
	}
	a.wind()
}

// drop has a bell not rung.
func (a *alarm) drop(b *bell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.place > 0 {
		heap.Remove(&a.bells, b.place-1)
	}
}

// wind sets the clock for the first bell, unless it rings before anyway. It needs the lock.
func (a *alarm) wind() {
	if len(a.bells) == 0 {
		return
	}
	if first := a.bells[0].at; a.next == 0 || first < a.next {
		a.next = first
		a.clock.ring(max(first-a.now(), 1))
	}
}

func (a *alarm) run() {
	for a.clock.wait() {
		a.mu.Lock()
		a.next = 0
		for now := a.now(); len(a.bells) > 0 && a.bells[0].at <= now; {
			heap.Pop(&a.bells).(*bell).wake()
		}
		a.wind()
		a.mu.Unlock()
	}
}

// end rings every bell now, and those that are set later at once.
func (a *alarm) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for len(a.bells) > 0 {
		heap.Pop(&a.bells).(*bell).wake()
	}
}

// close ends it, and its goroutine.
func (a *alarm) close() {
	a.end()
	a.clock.close()
	a.done.Wait()
}
