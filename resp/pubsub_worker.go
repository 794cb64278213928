package resp

import "sync"

// A pushWorker has messages leave together that many clients publish at once: while one publisher
// writes to the subscribers, the others only queue, and go on. What they have queued leaves with the
// next round, one write for each subscriber.
//
// Invariant: a publisher that finds the worker busy leaves its subscribers to the worker, which goes
// idle only when there are none left.
type pushWorker struct {
	done   *sync.WaitGroup
	mu     sync.Mutex
	next   sync.Cond // a round begins, or it is idle
	busy   bool
	dirty  []subscriber // for the next round
	queued int          // bytes of messages since the last one began
}

// pushWorkerRoom is how many bytes of messages are published while a round is under way, before
// publishers wait for the next one: no client does, as nobody waits for a subscriber.
const pushWorkerRoom = 256 << 10

// init is called once. All goroutines of the worker are counted in done.
func (d *pushWorker) init(done *sync.WaitGroup) {
	d.next.L = &d.mu
	d.done = done
}

// send has a delivery leave. The caller is a client's goroutine.
func (d *pushWorker) send(m *delivery) {
	if len(m.dirty) == 0 && m.queued == 0 {
		return
	}
	d.mu.Lock()
	if d.busy {
		d.dirty = append(d.dirty, m.dirty...)
		d.queued += m.queued
		for d.busy && d.queued > pushWorkerRoom {
			d.next.Wait()
		}
		d.mu.Unlock()
		m.reset()
		return
	}
	d.busy = true
	d.mu.Unlock()
	m.flush()
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
func (d *pushWorker) stopRounds() {
	d.busy, d.queued = false, 0
	d.next.Broadcast()
}

// run goes round until there is nothing left.
func (d *pushWorker) run() {
	defer d.done.Done()
	var round []subscriber
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
			c.kick()
			round[i] = nil
		}
	}
}
