package nodetest

import "sync"

// A AppLoad is workers that run at the same time, each with a library of its own. The zero
// AppLoad has none.
type AppLoad struct {
	Workers []*AppWorker

	stop    chan struct{}
	running sync.WaitGroup
}

// Start adds a worker and lets it run; see [Worker.Run].
func (l *AppLoad) Start(w *AppWorker, do Doer, tolerant bool) {
	if l.stop == nil {
		l.stop = make(chan struct{})
	}
	l.Workers = append(l.Workers, w)
	l.running.Go(func() { w.Run(do, l.stop, tolerant) })
}

// Stop ends all workers and waits for them.
func (l *AppLoad) Stop() {
	if l.stop != nil {
		close(l.stop)
		l.stop = nil
	}
	l.running.Wait()
}
