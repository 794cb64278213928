package locks

import (
	"context"
	"sync"
	"time"
)

// A chanMutex is a mutex under which one may wait for others: for a store or a network.
// Tests in virtual time see who waits at it as waiting, which they do not at a mutex.
type ChanMutex chan struct{}

func NewChanMutex() ChanMutex { return make(ChanMutex, 1) }

// Lock implements sync.Locker.
func (m ChanMutex) Lock() { m <- struct{}{} }

// Unlock implements sync.Locker.
func (m ChanMutex) Unlock() { <-m }

// A ctxMutex is a mutex that can be waited for in vain. Its zero value is free.
type CtxMutex struct {
	once sync.Once
	free chan struct{}
}

func (m *CtxMutex) init() {
	m.once.Do(func() {
		m.free = make(chan struct{}, 1)
		m.free <- struct{}{}
	})
}

// take waits until it is this one's turn.
func (m *CtxMutex) Lock(ctx context.Context) error {
	m.init()
	select {
	case <-m.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *CtxMutex) Unlock() { m.free <- struct{}{} }

// pause waits, unless the engine closes.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
