package pubsub

import "sync"

// A Worker has messages leave together that many clients publish at once: while one publisher
// writes to the subscribers, the others only queue, and go on. What they have queued leaves with the
// next round, one write for each subscriber.
//
// Invariant: a publisher that finds the worker busy leaves its subscribers to the worker, which goes
// idle only when there are none left.
type Worker struct {
	done   *sync.WaitGroup
	mu     sync.Mutex
	next   sync.Cond // a round begins, or it is idle
	busy   bool
	dirty  []Subscriber // for the next round
	queued int          // bytes of messages since the last one began
}

// workerRoom is how many bytes of messages are published while a round is under way, before
// publishers wait for the next one: no publisher waits for a subscriber.
const workerRoom = 256 << 10

// Init is called once. All goroutines of the worker are counted in done.
func (d *Worker) Init(done *sync.WaitGroup) {
	d.next.L = &d.mu
	d.done = done
}

// Send has a delivery leave. The caller is a client's goroutine.
func (d *Worker) Send(m *Delivery) {
	if len(m.dirty) == 0 && m.queued == 0 {
		return
	}
	d.mu.Lock()
	if d.busy {
		d.dirty = append(d.dirty, m.dirty...)
		d.queued += m.queued
		for d.busy && d.queued > workerRoom {
			d.next.Wait()
		}
		d.mu.Unlock()
		m.reset()
		return
	}
	d.busy = true
	d.mu.Unlock()
	m.Flush()
	d.mu.Lock()
	if len(d.dirty) > 0 {
		d.done.Add(1)
		go d.run()
	} else {
		d.stopRounds()
	}
	d.mu.Unlock()
}

// stopRounds ends the rounds. The caller holds mu.
func (d *Worker) stopRounds() {
	d.busy, d.queued = false, 0
	d.next.Broadcast()
}

// run goes round until there is nothing left.
func (d *Worker) run() {
	defer d.done.Done()
	var round []Subscriber
	for {
		d.mu.Lock()
		if len(d.dirty) == 0 {
			d.stopRounds()
			d.mu.Unlock()
			return
		}
		round, d.dirty = d.dirty, round[:0]
		d.queued = 0
		d.next.Broadcast()
		d.mu.Unlock()
		for i, c := range round {
			c.Kick()
			round[i] = nil
		}
	}
}
