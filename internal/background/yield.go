package background

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	mu    sync.Mutex
	wakes atomic.Pointer[[]*func()] // replaced as a whole, under mu
)

// Yield lets all goroutines that can run go first, among them those that [OnYield] wakes. It costs some hundred
// nanoseconds if there are none. The caller should hold no lock that a request needs.
func Yield() {
	if all := wakes.Load(); all != nil {
		for _, wake := range *all {
			(*wake)()
		}
	}
	runtime.Gosched()
}

// A Pacer yields now and then. The zero Pacer is ready. It belongs to one goroutine.
type Pacer struct{ steps uint }

// yieldEach is after how many steps a Pacer yields. Reading or writing so many entries takes about a hundred
// microseconds.
const yieldEach = 64

// Step is to be called after each step of some microseconds at most.
func (p *Pacer) Step() {
	if p.steps++; p.steps%yieldEach == 0 {
		Yield()
	}
}

// OnYield has each [Yield] call wake, which wakes goroutines for which there is work, and does not wait. It returns a
// function that ends this; wake may be called by a Yield that is under way, even when that has returned.
func OnYield(wake func()) (end func()) {
	mu.Lock()
	defer mu.Unlock()
	replace(func(all []*func()) []*func() { return append(all, &wake) })
	return func() {
		mu.Lock()
		defer mu.Unlock()
		replace(func(all []*func()) []*func() {
			var rest []*func()
			for _, one := range all {
				if one != &wake {
					rest = append(rest, one)
				}
			}
			return rest
		})
	}
}

func replace(change func([]*func()) []*func()) {
	var all []*func()
	if old := wakes.Load(); old != nil {
		all = append(all, *old...)
	}
	all = change(all)
	wakes.Store(&all)
}
