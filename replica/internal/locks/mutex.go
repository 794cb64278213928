package locks

import (
	"context"
	"sync"
	"time"
)

// A ChanMutex is a mutex that may be held while waiting for a store or a network. Tests in virtual
// time see a goroutine that waits for it as blocked.
type ChanMutex chan struct{}

// NewChanMutex returns an unlocked mutex.
func NewChanMutex() ChanMutex { return make(ChanMutex, 1) }

// Lock implements sync.Locker.
func (m ChanMutex) Lock() { m <- struct{}{} }

// Unlock implements sync.Locker.
func (m ChanMutex) Unlock() { <-m }

// A CtxMutex is a mutex whose Lock can be cancelled. Its zero value is unlocked.
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

// Lock waits for the mutex, or for the end of ctx.
func (m *CtxMutex) Lock(ctx context.Context) error {
	m.init()
	select {
	case <-m.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Unlock unlocks the mutex, which must be locked.
func (m *CtxMutex) Unlock() { m.free <- struct{}{} }

// Pause waits for d, or for the end of ctx.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Signal puts a value into c unless c is full. It never blocks.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
