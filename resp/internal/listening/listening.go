package listening

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Set holds clients. Its methods may be called from any goroutine; the zero value is an empty set.
type Set[C comparable] struct {
	n   atomic.Int32
	mu  sync.Mutex
	all []C
}

// Len returns how many clients there are. It takes no lock.
func (s *Set[C]) Len() int { return int(s.n.Load()) }

// Any reports whether there are clients. It takes no lock.
func (s *Set[C]) Any() bool { return s.n.Load() > 0 }

// Add adds a client, unless it is there already.
func (s *Set[C]) Add(c C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.all, c) {
		s.all = append(s.all, c)
		s.n.Store(int32(len(s.all)))
	}
}

// Remove reports whether a client was there, and removes it.
func (s *Set[C]) Remove(c C) bool {
	if !s.Any() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.all)
	s.all = slices.DeleteFunc(s.all, func(other C) bool { return other == c })
	s.n.Store(int32(len(s.all)))
	return len(s.all) < before
}

// Each calls do with each client, in the order in which they came. do must not wait, nor change the set.
func (s *Set[C]) Each(do func(C)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		do(c)
	}
}
