package streams

import (
	"errors"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store/collection"
)

// XREADGROUP with CLAIM, of Redis 8.4.

// serveClaiming is serve for a read that first claims what has been pending for long, and then reads what
// is new. Each entry comes with how long it was pending, in ms, and how often it had been delivered.
func (g *groupRead) serveClaiming(x *command.Call, r *streamRead) (served bool, err error) {
	at := len(x.Buf)
	streamName(x, g.key)
	list := len(x.Buf)
	d := dueRead{groupRead: g, r: r}
	if _, err = g.g.KeepDue(); err == nil {
		err = d.claim(x)
	}
	if err == nil && !d.isFull() {
		err = d.readNew(x)
	}
	if err != nil {
		return false, err
	}
	if d.n == 0 {
		x.Buf = x.Buf[:at]
		return false, g.polled(x, r)
	}
	g.g.Save()
	insertLength(x.Writer, list, '*', int(d.n))
	return true, nil
}

// A dueRead is one stream of an XREADGROUP with CLAIM.
type dueRead struct {
	*groupRead
	r *streamRead
	c *collection.Consumer // once it has got something
	n int64                // entries that were replied with
	// gone is how many entries were set aside, since they are none of the stream any more.
	gone int
}

// mostGone is how many pending entries that the stream no longer has one read passes. The next read continues
// behind them.
const mostGone = 10_000

func (d *dueRead) consumer(x *command.Call) (c *collection.Consumer, err error) {
	if d.c == nil {
		d.c, err = consumer(x, d.g, d.key, d.r.consumer)
	}
	return d.c, err
}

// isFull reports whether there are as many entries as were asked for.
func (d *dueRead) isFull() bool { return d.r.count > 0 && d.n >= d.r.count }

// claim replies with what has been pending for long enough, and makes it the consumer's. What is no entry
// of the stream any more stays pending, and is not looked at again.
func (d *dueRead) claim(x *command.Call) error {
	var failure error
	err := d.g.EachDue(x.Unit.Now()-d.r.idle, func(p *collection.Pending) bool {
		if failure = d.claimOne(x, p); failure == nil && !mayGrow(x) {
			failure = errReplySize
		}
		return failure == nil && !d.isFull() && d.gone < mostGone
	})
	return errors.Join(failure, err)
}

func (d *dueRead) claimOne(x *command.Call, old *collection.Pending) error {
	fields, found, err := d.s.Get(old.ID)
	if err != nil {
		return err
	}
	if !found {
		d.g.SetAside(old)
		d.gone++
		return nil
	}
	c, err := d.consumer(x)
	if err != nil {
		return err
	}
	now := x.Unit.Now()
	if err := entryOf(x.Writer, 4, old.ID, fields); err != nil {
		return err
	}
	x.Int(now - old.Delivered())
	x.Int(int64(old.Count))
	d.n++
	p := *old
	p.Time, p.Consumer = now, c.Name
	p.CountDelivery()
	c.Act(now)
	return d.g.Put(&p, old)
}

// readNew replies with what the group was not given yet.
func (d *dueRead) readNew(x *command.Call) error {
	from, ok := d.g.Last.Next()
	if !ok || d.s.Len() == 0 || from.Compare(d.s.Last) > 0 {
		return nil
	}
	var ids []collection.ID
	var failure error
	err := d.s.Range(from, collection.MaxID, false, func(id collection.ID, fields collection.Fields) bool {
		if failure = entryOf(x.Writer, 4, id, fields); failure != nil {
			return false
		}
		x.Int(0)
		x.Int(0)
		ids = append(ids, id)
		if d.n++; !mayGrow(x) {
			failure = errReplySize
		}
		return failure == nil && !d.isFull()
	})
	if err = errors.Join(failure, err); err != nil || len(ids) == 0 {
		return err
	}
	c, err := d.consumer(x)
	if err != nil {
		return err
	}
	return d.deliver(x, c, ids, d.r.noAck)
}

// claimable reports whether an XREADGROUP with CLAIM that waits finds something pending for long enough.
// Otherwise it has the command run again at the time when it will.
func (g *groupRead) claimable(x *command.Call, r *streamRead, alarm *command.Alarm) bool {
	if !r.claims || g.g.Pending == 0 {
		return false
	}
	until, gone := x.Unit.Now()-r.idle, 0
	var failure error
	next, due := int64(0), false // the next entry's time, and whether one can be claimed
	again := !g.g.HasAllDue()    // the command itself makes up the order of delivery
	err := g.g.PeekDue(func(at int64, id collection.ID) bool {
		if next = at; at > until {
			return false
		}
		if gone++; gone > mostGone { // as it passes what is gone
			again = true
			return false
		}
		_, due, failure = g.s.Get(id)
		return !due && failure == nil
	})
	switch {
	case due:
		return true
	case again || err != nil || failure != nil:
		alarm.Set(time.Millisecond)
	case next > until:
		alarm.Set(command.Milliseconds(uint64(next) - uint64(until)))
	}
	return false
}
