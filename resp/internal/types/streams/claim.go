package streams

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// A claim is how XCLAIM and XAUTOCLAIM make a consumer that of what is pending with others.
type claim struct {
	s    *collection.Stream
	g    *collection.Group
	name []byte               // of the consumer
	to   *collection.Consumer // once it has got something
	idle int64                // ms that an entry has been pending at least
	// at is what becomes the time of delivery, and count the number of deliveries, unless that
	// is negative: then one more, unless only IDs are asked for.
	at      int64
	count   int64
	justID  bool
	force   bool
	deleted []collection.ID // that were pending and are no entries
}

// take claims an entry, which old says is pending, and replies with it. It is not taken if it
// is not what was asked for; an entry that was removed is not pending any more.
func (c *claim) take(x *command.Call, id collection.ID, old *collection.Pending) (taken bool, err error) {
	fields, found, err := c.s.Get(id)
	if err != nil {
		return false, err
	}
	if !found {
		if old != nil {
			c.deleted = append(c.deleted, id)
			err = c.g.Remove(old)
		}
		return false, err
	}
	p := collection.Pending{ID: id, Count: 1}
	switch {
	case old == nil && !c.force:
		return false, nil
	case old != nil && !old.IsReleased() && c.idle > 0 && x.Unit.Now()-old.Time < c.idle:
		return false, nil
	case old != nil:
		p = *old
	}
	if c.to == nil {
		if c.to, err = consumer(x, c.g, x.Args[1], c.name); err != nil {
			return false, err
		}
	}
	p.Time, p.Consumer = c.at, c.to.Name
	if c.count >= 0 {
		p.Count = uint64(c.count)
	} else if !c.justID {
		p.CountDelivery()
	}
	if err := c.g.Put(&p, old); err != nil {
		return false, err
	}
	c.to.Act(x.Unit.Now())
	if c.justID {
		streamID(x.Writer, id)
		return true, nil
	}
	return true, entry(x.Writer, id, fields)
}

// end notes a consumer that got nothing, and saves the group.
func (c *claim) end(x *command.Call) error {
	if c.to == nil {
		if err := polled(x, c.g, x.Args[1], c.name); err != nil {
			return err
		}
	}
	c.g.Save()
	return nil
}

// claimOptions are what XCLAIM says behind the IDs.
type claimOptions struct {
	at     int64 // -1: now
	count  int64
	force  bool
	justID bool
	last   collection.ID
}

// parseClaimOptions returns an error reply, or "".
func parseClaimOptions(args [][]byte, now int64) (o claimOptions, msg string) {
	o.at, o.count = -1, -1
	for ; len(args) > 0; args = args[1:] {
		word, ok := args[0], true
		switch more := len(args) > 1; {
		case wire.EqualFold(word, "force"):
			o.force = true
			continue
		case wire.EqualFold(word, "justid"):
			o.justID = true
			continue
		case more && wire.EqualFold(word, "idle"):
			o.at, ok = wire.ParseInt(args[1])
			o.at, msg = now-o.at, "ERR Invalid IDLE option argument for XCLAIM"
		case more && wire.EqualFold(word, "time"):
			o.at, ok = wire.ParseInt(args[1])
			msg = "ERR Invalid TIME option argument for XCLAIM"
		case more && wire.EqualFold(word, "retrycount"):
			o.count, ok = wire.ParseInt(args[1])
			msg = "ERR Invalid RETRYCOUNT option argument for XCLAIM"
		case more && wire.EqualFold(word, "lastid"):
			o.last, ok = parseStreamID(args[1], 0)
			msg = msgStreamID
		default:
			return o, "ERR Unrecognized XCLAIM option '" + string(whole(word)) + "'"
		}
		if !ok {
			return o, msg
		}
		args = args[1:]
	}
	if o.at < 0 || o.at > now {
		o.at = now
	}
	return o, ""
}

func cmdXclaim(x *command.Call) {
	if !nameFits(x, x.Args[3]) {
		return
	}
	g, ok := groupFound(x, x.Args[1], x.Args[2])
	if !ok {
		return
	}
	idle, ok := wire.ParseInt(x.Args[4])
	if !ok {
		x.Error("ERR Invalid min-idle-time argument for XCLAIM")
		return
	}
	var ids []collection.ID
	rest := x.Args[5:]
	for ; len(rest) > 0; rest = rest[1:] {
		id, ok := parseStreamID(rest[0], 0)
		if !ok {
			break // perhaps an option
		}
		ids = append(ids, id)
	}
	o, msg := parseClaimOptions(rest, x.Unit.Now())
	if msg != "" {
		x.Error(msg)
		return
	}
	if o.last.Compare(g.Last) > 0 {
		g.Set(o.last, g.Read)
	}
	c := claim{s: &x.Stream, g: g, name: x.Args[3], idle: idle, at: o.at, count: o.count, justID: o.justID, force: o.force}
	at, n := len(x.Buf), 0
	for _, id := range ids {
		old, err := g.Find(id)
		taken := false
		if err == nil {
			taken, err = c.take(x, id, old)
		}
		if err == nil && !mayGrow(x) {
			err = command.LimitError(command.MsgReplyTooLarge)
		}
		if err != nil {
			x.Buf = x.Buf[:at]
			x.Abort(err)
			return
		}
		if taken {
			n++
		}
	}
	if err := c.end(x); err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
		return
	}
	insertLength(x.Writer, at, '*', n)
}

const (
	// claimAttempts is how many entries XAUTOCLAIM looks at for each that it may take.
	claimAttempts = 10
	maxClaim      = math.MaxInt64 / 16
)

func cmdXautoclaim(x *command.Call) {
	idle, ok := wire.ParseInt(x.Args[4])
	if !ok {
		x.Error("ERR Invalid min-idle-time argument for XAUTOCLAIM")
		return
	}
	from, ok := intervalStart(x, x.Args[5])
	if !ok {
		return
	}
	count, justID := int64(100), false
	for args := x.Args[6:]; len(args) > 0; args = args[1:] {
		switch {
		case len(args) > 1 && wire.EqualFold(args[0], "count"):
			if count, ok = wire.ParseInt(args[1]); !ok || count < 1 || count > maxClaim {
				x.Error("ERR COUNT must be > 0")
				return
			}
			args = args[1:]
		case wire.EqualFold(args[0], "justid"):
			justID = true
		default:
			x.Error(command.MsgSyntax)
			return
		}
	}
	if !nameFits(x, x.Args[3]) {
		return
	}
	g, ok := groupFound(x, x.Args[1], x.Args[2])
	if !ok {
		return
	}
	c := claim{s: &x.Stream, g: g, name: x.Args[3], idle: idle, at: x.Unit.Now(), count: -1, justID: justID}
	at := len(x.Buf)
	err := autoclaim(x, &c, from, count)
	if err == nil {
		err = c.end(x)
	}
	if err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
	}
}

// autoclaim claims up to count entries that are pending from an ID on, and replies with where
// to go on, with them, and with those that are no more.
func autoclaim(x *command.Call, c *claim, from collection.ID, count int64) error {
	at, n := len(x.Buf), 0
	var next collection.ID
	var failure error
	attempts := count * claimAttempts
	err := c.g.EachPending(from, collection.MaxID, func(p *collection.Pending) bool {
		if attempts == 0 || count == 0 {
			next = p.ID
			return false
		}
		attempts--
		gone := len(c.deleted)
		var taken bool
		if taken, failure = c.take(x, p.ID, p); taken {
			n++
		}
		if taken || len(c.deleted) > gone {
			count--
		}
		if failure == nil && !mayGrow(x) {
			failure = command.LimitError(command.MsgReplyTooLarge)
		}
		return failure == nil
	})
	if err = errors.Join(failure, err); err != nil {
		return err
	}
	taken := append([]byte(nil), x.Buf[at:]...)
	x.Buf = x.Buf[:at]
	x.Array(3)
	streamID(x.Writer, next)
	x.Array(n)
	x.Buf = append(x.Buf, taken...)
	x.Array(len(c.deleted))
	for _, id := range c.deleted {
		streamID(x.Writer, id)
	}
	return nil
}
