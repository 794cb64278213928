package pubsub

import "sync"

// A Worker has messages leave together that many clients publish at once: in the turns of a round, or while one publisher
// writes to the subscribers. The others only queue, and go on. What they have queued leaves at the end of the
// round, or when that publisher has written: one write for each subscriber.
//
// Invariant: a publisher that finds the worker busy leaves its subscribers to the worker, which goes
// idle only when there are none left. The worker that waits for the end of a round is busy.
type Worker struct {
	done   *sync.WaitGroup
	mu     sync.Mutex
	next   sync.Cond // writing begins, or it is idle
	busy   bool
	waits  bool         // for the end of a round
	dirty  []Subscriber // to which is written next
	queued int          // bytes of messages for them
	// writing are the subscribers to which is written now; who writes uses it alone.
	writing []Subscriber
	write   func() // writeAtEnd, made once
}

// workerRoom is how many bytes of messages are published before what is queued leaves without waiting for the end of the
// round, or while the worker writes, before publishers wait until it writes again: no publisher waits for a subscriber.
const workerRoom = 256 << 10

// Init is called once. All goroutines of the worker are counted in done.
func (d *Worker) Init(done *sync.WaitGroup) {
	d.next.L = &d.mu
	d.write = d.writeAtEnd
	d.done = done
}

// Send has a delivery leave. The caller is a client's goroutine. atEnd calls a function once, at the end of the round in
// which the caller has a turn, or at once if it has none.
func (d *Worker) Send(m *Delivery, atEnd func(func())) {
	if len(m.dirty) == 0 && m.queued == 0 {
		return
	}
	d.mu.Lock()
	d.dirty = append(d.dirty, m.dirty...)
	d.queued += m.queued
	m.reset()
	if !d.busy {
		d.busy, d.waits = true, true
		d.mu.Unlock()
		atEnd(d.write)
		return
	}
	if d.waits && d.queued > workerRoom {
		d.waits = false
		d.start()
	}
	for d.busy && !d.waits && d.queued > workerRoom {
		d.next.Wait()
	}
	d.mu.Unlock()
}

// writeAtEnd writes to the subscribers at the end of a round, unless that has begun before.
func (d *Worker) writeAtEnd() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.waits {
		return
	}
	d.waits = false
	if d.kick(); len(d.dirty) > 0 {
		d.start() // the caller does not go on for as long as others publish
	} else {
		d.stop()
	}
}

// start has a goroutine write. The caller holds mu.
func (d *Worker) start() {
	d.done.Add(1)
	go d.run()
}

// stop makes the worker idle. The caller holds mu.
func (d *Worker) stop() {
	d.busy, d.queued = false, 0
	d.next.Broadcast()
}

// run writes until there is nothing left.
func (d *Worker) run() {
	defer d.done.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.dirty) > 0 {
		d.kick()
	}
	d.stop()
}

// kick writes to the subscribers. The caller holds mu, which is released meanwhile.
func (d *Worker) kick() {
	d.writing, d.dirty = d.dirty, d.writing[:0]
	d.queued = 0
	d.next.Broadcast()
	d.mu.Unlock()
	for i, c := range d.writing {
		c.Kick()
		d.writing[i] = nil
	}
	d.mu.Lock()
}
