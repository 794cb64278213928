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
	if err == nil && (r.count == 0 || d.n < r.count) {
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
}

func (d *dueRead) consumer(x *command.Call) (c *collection.Consumer, err error) {
	if d.c == nil {
		d.c, err = consumer(x, d.g, d.key, d.r.consumer)
	}
	return d.c, err
}

// claim replies with what has been pending for long enough, and makes it the consumer's. What is no entry
// of the stream any more stays pending, and is not looked at again.
func (d *dueRead) claim(x *command.Call) error {
	var failure error
	err := d.g.EachDue(x.Unit.Now()-d.r.idle, func(p *collection.Pending) bool {
		if failure = d.claimOne(x, p); failure == nil && !mayGrow(x) {
			failure = errReplySize
		}
		return failure == nil && d.n != d.r.count
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
		return failure == nil && d.n != d.r.count
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
	at, ok, err := g.g.OldestDue(func(id collection.ID) (bool, error) {
		_, found, err := g.s.Get(id)
		return found, err
	})
	until := x.Unit.Now() - r.idle
	switch {
	case err != nil || !ok && !g.g.HasAllDue():
		alarm.Set(time.Millisecond) // the command itself makes up the order of delivery
	case ok && at > until:
		alarm.Set(command.Milliseconds(uint64(at) - uint64(until)))
	case ok:
		return true
	}
	return false
}
