package replica

import (
	"context"
	"sync"
)

// A queue is a mutex that can be waited for in vain. Its zero value is free.
type queue struct {
	once sync.Once
	free chan struct{}
}

func (q *queue) init() {
	q.once.Do(func() {
		q.free = make(chan struct{}, 1)
		q.free <- struct{}{}
	})
}

// take waits until it is this one's turn.
func (q *queue) take(ctx context.Context) error {
	q.init()
	select {
	case <-q.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) end() { q.free <- struct{}{} }
