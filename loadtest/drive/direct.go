package drive

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 250 * time.Millisecond
	// lookAround is how often a client looks whether it is connected where it belongs.
	lookAround = 250 * time.Millisecond
)

// A direct link is a connection of its own to one of the targets, which is made anew when
// it breaks, with another target if need be.
type direct struct {
	l       *Load
	life    context.Context // connections end with it
	done    <-chan struct{} // nothing is tried any more
	number  int             // of the client: its share of the targets
	conn    *conn
	failed  int // attempts to connect since the last that worked
	looked  time.Duration
	out     []byte
	ends    []int // of each command in out
	outcome outcome
}

// home is the target to which a client belongs, after so many attempts with others.
func (l *Load) home(number, failed int) (string, bool) {
	targets := l.cfg.Targets()
	if len(targets) == 0 {
		return "", false
	}
	if l.cfg.Route == One {
		number = 0
	}
	return targets[(number+failed)%len(targets)], true
}

func (d *direct) ready() bool {
	now := d.l.now()
	if d.conn != nil && now-d.looked > lookAround {
		d.looked = now
		if target, ok := d.l.home(d.number, d.failed); ok && target != d.conn.target {
			d.hangUp()
		}
	}
	for pause := time.Duration(0); d.conn == nil; {
		if over(d.done) {
			return false
		}
		if err := d.connect(); err == nil {
			return true
		}
		pause = min(max(2*pause, minBackoff), maxBackoff)
		if !sleep(d.done, pause) {
			return false
		}
	}
	return true
}

// connect tries once.
func (d *direct) connect() error {
	target, ok := d.l.home(d.number, d.failed)
	if !ok {
		return errNoTarget
	}
	c, err := d.l.dial(d.life, target)
	if err != nil {
		d.failed++
		d.l.lost(err)
		return err
	}
	d.conn = c
	d.looked = d.l.now()
	d.l.connected.Add(1)
	return nil
}

// hangUp ends the connection.
func (d *direct) hangUp() {
	if d.conn != nil {
		d.conn.close()
		d.conn = nil
		d.l.connected.Add(-1)
	}
}

// fail ends a connection that is of no use, and tries another target first.
func (d *direct) fail(err error) {
	d.l.lost(err)
	d.hangUp()
	d.failed++
}

func (d *direct) close() { d.hangUp() }

func (d *direct) add(op *workload.Op) int {
	before := len(d.out)
	d.out = appendCommand(d.out, op.Args)
	d.ends = append(d.ends, len(d.out))
	return len(d.out) - before
}

// send sends what was added, and returns how many commands a server can have got whole,
// which is all of them unless there is an error.
func (d *direct) send(now time.Duration) (int, error) {
	err := d.conn.hold(now, d.l.cfg.Timeout)
	n := 0
	if err == nil {
		n, err = d.conn.Write(d.out)
	}
	sent := len(d.ends)
	if _, secret := d.conn.Conn.(*tls.Conn); err != nil && !secret { // what TLS has sent cannot be told
		for sent > 0 && d.ends[sent-1] > n {
			sent--
		}
	}
	d.out, d.ends = d.out[:0], d.ends[:0]
	if cap(d.out) > 16<<20 {
		d.out = nil
	}
	return sent, err
}

func (d *direct) exchange(each func(*outcome)) {
	all := len(d.ends)
	o := &d.outcome
	*o = outcome{at: d.l.now()}
	sent, err := d.send(o.at)
	done := 0
	for err == nil && done < all {
		if o.reply, err = d.conn.in.next(); err != nil {
			break
		}
		if o.reply != nil {
			each(o)
			done++
			continue
		}
		err = d.conn.in.fill()
		o.at = d.l.now()
	}
	if err == nil && d.conn.in.r < d.conn.in.w {
		err = errUnasked
	}
	if err == nil {
		d.settled()
		return
	}
	d.fail(err)
	o.reply, o.at = nil, d.l.now()
	for ; done < all; done++ {
		o.sent = done < sent
		each(o)
	}
}

// settled forgets failures: the target answers.
func (d *direct) settled() {
	if d.failed == 0 {
		return
	}
	// It stays where it is until the target to which it belongs may be back.
	d.failed = 0
	d.looked = d.l.now() + maxBackoff
}
