package client

import (
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A schedule is what an open loop does next, and when. Nothing is ever left out: what could
// not begin in time begins as soon as it can.
type schedule struct {
	w      *worker
	client *workload.Client
	next   *workload.Op
	due    time.Duration // of next, since the load was opened
}

func newSchedule(w *worker, c *workload.Client) *schedule {
	s := &schedule{w: w, client: c}
	s.advance()
	return s
}

func (s *schedule) advance() {
	s.next = s.client.Next()
	s.due = s.w.l.began + s.next.At
}

// begin puts on their way what is due, up to n operations, and returns how many.
func (s *schedule) begin(n int, now time.Duration) int {
	begun := 0
	for ; begun < n && s.due <= now; begun++ {
		s.w.begin(s.next, s.w.l.kinds[s.next.Command], s.due, now)
		s.advance()
	}
	return begun
}

// open asks at its times, by a link that sends and waits.
func (w *worker) open(c *workload.Client) {
	s := newSchedule(w, c)
	defer w.l.alarm.drop(&w.bell)
	for w.l.asking.Err() == nil && w.link.ready() {
		now := w.l.now()
		if s.begin(w.l.cfg.Pipeline, now) > 0 {
			w.exchange()
			continue
		}
		w.l.alarm.set(&w.bell, s.due, w.ring)
		select {
		case <-w.rung:
		case <-w.l.asking.Done():
			return
		}
	}
}

// openDirect asks at its times, by a connection of its own, whether or not answers are on
// their way.
func (w *worker) openDirect(d *direct, c *workload.Client) {
	s := newSchedule(w, c)
	defer w.l.alarm.drop(&w.bell)
	for w.l.asking.Err() == nil && (w.flying > 0 && d.conn != nil || d.ready()) {
		if err := w.turn(s, d); err != nil {
			d.abandon(w, err)
		}
		w.record()
	}
	// What is on its way is still waited for.
	for d.conn != nil && w.flying > 0 {
		if err := d.receive(w); err != nil {
			d.abandon(w, err)
		}
	}
	w.record()
}

// turn sends what is due, and takes what comes until more is due.
func (w *worker) turn(s *schedule, d *direct) error {
	now := w.l.now()
	for d.conn == nil { // the load has ended, and what is due has waited for the server
		if w.l.ctx.Err() != nil || s.begin(w.l.cfg.Pipeline, now) == 0 {
			return nil
		}
		d.abandon(w, d.send(now))
		w.record()
	}
	if d.conn.moved {
		return d.receive(w) // what is on its way; then the client leaves this connection
	}
	if s.begin(w.l.cfg.Pipeline-w.flying, now) > 0 {
		if err := d.send(now); err != nil {
			return err
		}
	}
	if w.flying < w.l.cfg.Pipeline {
		// The alarm comes after this, so that setting the time cannot undo it.
		d.conn.deadline = 0
		if err := d.conn.hold(now, w.l.cfg.Timeout); err != nil {
			return err
		}
		w.l.alarm.set(&w.bell, s.due, d.conn.wake)
	}
	return d.receive(w)
}
