package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 250 * time.Millisecond
	// maxDial is for how long a target may take to be connected to.
	maxDial = 2 * time.Second
	// lookAround is how often a client looks whether there are other targets.
	lookAround = 250 * time.Millisecond
)

// errUnasked reports that more replies came than commands were sent.
var errUnasked = fmt.Errorf("%w: reply without a request", wire.ErrReply)

// A direct link is a connection of its own to one of the targets, which is made anew when
// it breaks, to the next target.
type direct struct {
	l       *Load
	life    context.Context // connections end with it
	until   context.Context // nothing is tried any more
	number  int             // of the client
	conn    *conn
	targets []string // as they were last
	at      int      // how far from its own target in them it is, which did not work
	refuge  string   // where a server that stops has sent it; empty: to its own target
	looked  time.Duration
	heard   bool  // something came over this connection
	barren  int   // connections one after the other over which nothing came
	refused error // why it could not connect, if it could not when it was last ready
	out     []byte
	ends    []int // of each command in out
	unsent  int
	outcome outcome
}

// target is where it connects next.
func (d *direct) target() (string, error) {
	if d.refuge != "" {
		return d.refuge, nil
	}
	if len(d.targets) == 0 {
		return "", errNoTarget
	}
	home := d.number
	if d.l.cfg.Route == One {
		home = 0
	}
	return d.targets[(home+d.at)%len(d.targets)], nil
}

// look takes in that there are other targets, and tells whether there are: then it goes
// back to its own.
func (d *direct) look() bool {
	d.looked = d.l.now()
	targets := d.l.cfg.Targets()
	if slices.Equal(targets, d.targets) {
		return false
	}
	d.targets, d.at, d.refuge = slices.Clone(targets), 0, ""
	return true
}

func (d *direct) ready() bool {
	if d.conn != nil && d.conn.moved {
		d.refuge = d.conn.moveTo
		d.hangUp()
	}
	if d.conn != nil && d.l.now()-d.looked > lookAround && d.look() {
		if target, err := d.target(); err == nil && target != d.conn.target {
			d.hangUp()
		}
	}
	pause := time.Duration(0)
	if d.barren > 0 {
		pause = min(minBackoff<<min(d.barren, 10), maxBackoff)
	}
	for d.conn == nil {
		if d.until.Err() != nil || pause > 0 && !sleep(d.until, pause) {
			return d.refused != nil
		}
		if d.refused = d.connect(); d.refused != nil {
			pause = min(max(2*pause, minBackoff), maxBackoff)
		}
	}
	return true
}

// connect tries once.
func (d *direct) connect() error {
	d.look()
	target, err := d.target()
	if err != nil {
		return err
	}
	c, err := d.l.dial(d.life, target)
	if err != nil {
		d.next()
		d.l.lost(err)
		return err
	}
	d.conn, d.heard = c, false
	d.l.connected.Add(1)
	return nil
}

// next gives up the present target.
func (d *direct) next() {
	if d.refuge != "" {
		d.refuge = ""
	} else {
		d.at++
	}
}

// hangUp ends the connection.
func (d *direct) hangUp() {
	if d.conn != nil {
		d.conn.close()
		d.conn = nil
		d.l.connected.Add(-1)
	}
}

// fail ends a connection that is of no use. The next is to another target.
func (d *direct) fail(err error) {
	d.l.lost(err)
	d.hangUp()
	d.next()
	if d.heard {
		d.barren = 0
	} else {
		d.barren++
	}
}

func (d *direct) close() { d.hangUp() }

func (d *direct) add(op *workload.Op) int {
	before := len(d.out)
	d.out = wire.AppendRequest(d.out, op.Args...)
	d.ends = append(d.ends, len(d.out))
	return len(d.out) - before
}

// send sends what was added. After an error, unsent says how many of the last flights no server can have
// got whole.
func (d *direct) send(now time.Duration) error {
	err, n, secret := d.refused, 0, false
	if d.conn != nil {
		_, secret = d.conn.Conn.(*tls.Conn) // what TLS has sent cannot be told
		if err = d.conn.hold(now, d.l.cfg.Timeout); err == nil {
			n, err = d.conn.Write(d.out)
		}
	}
	d.unsent = 0
	if err != nil && !secret {
		for i := len(d.ends) - 1; i >= 0 && d.ends[i] > n; i-- {
			d.unsent++
		}
	}
	d.out, d.ends = d.out[:0], d.ends[:0]
	if cap(d.out) > 16<<20 {
		d.out = nil
	}
	return err
}

func (d *direct) exchange(w *worker) {
	now := d.l.now()
	err := d.send(now)
	for err == nil && w.flying > 0 {
		err = d.receive(w)
	}
	if err != nil {
		d.abandon(w, err)
	}
}

// receive takes what comes, once. To be woken up is no error.
func (d *direct) receive(w *worker) error {
	err := d.conn.in.Fill()
	o := &d.outcome
	*o = outcome{at: d.l.now()}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		d.conn.deadline = 0
		if w.flying > 0 && o.at-w.flights[w.first].sent >= d.l.cfg.Timeout {
			return err
		}
		return d.conn.hold(o.at, d.l.cfg.Timeout)
	}
	for err == nil {
		if o.reply, err = d.conn.in.Next(); o.reply == nil {
			break
		}
		if w.flying == 0 {
			return errUnasked
		}
		w.end(o)
		d.heard = true
	}
	return err
}

// abandon gives up the connection and what is on its way.
func (d *direct) abandon(w *worker, err error) {
	d.fail(err)
	o := &d.outcome
	*o = outcome{at: d.l.now()}
	for w.flying > 0 {
		o.sent = w.flying > d.unsent
		w.end(o)
	}
	d.unsent = 0
}
