package members

import "sync"

// watchers are told that something changed, never what.
type watchers struct {
	mu     sync.Mutex
	chans  map[chan struct{}]struct{}
	closed bool
}

func (w *watchers) add() (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{}, 1)
	if w.closed {
		close(c)
		return c, func() {}
	}
	c <- struct{}{}
	if w.chans == nil {
		w.chans = map[chan struct{}]struct{}{}
	}
	w.chans[c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, ok := w.chans[c]; ok {
			delete(w.chans, c)
			close(c)
		}
	}
}

func (w *watchers) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.chans {
		signal(c)
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for c := range w.chans {
		close(c)
	}
	w.chans = nil
}

// signal leaves a note in a channel that holds one; one that is there already will do.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
