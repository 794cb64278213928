package resp

import "sync"

// A pushWorker has what is published by many clients at once leave together: while one of them
// writes to the subscribers, the others only queue, and go on. What they have queued leaves
// with the next round, one write for each subscriber.
//
// Invariant: whoever finds it busy leaves its subscribers to it, and it goes idle only when
// there are none left.
type pushWorker struct {
	mu     sync.Mutex
	next   sync.Cond // a round begins, or it is idle
	busy   bool
	dirty  []*conn // for the next round
	queued int     // bytes of messages since the last one began
}

// pushWorkerRoom is how many bytes of messages are published while a round is under way, before
// publishers wait for the next one: no client does, as nobody waits for a subscriber.
const pushWorkerRoom = 256 << 10

func (d *pushWorker) init() { d.next.L = &d.mu }

// send has a delivery leave. The caller is a client's goroutine.
func (d *pushWorker) send(s *Server, m *delivery) {
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
		s.done.Add(1)
		go d.run(s)
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
func (d *pushWorker) run(s *Server) {
	defer s.done.Done()
	var round []*conn
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
			c.kickPushes()
			round[i] = nil
		}
	}
}
