package streams

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdXack(x *command.Call) {
	g, ok := group(x, x.Args[1], x.Args[2])
	if !ok {
		return
	}
	if g == nil {
		x.Int(0)
		return
	}
	ids, ok := streamIDs(x, x.Args[3:])
	if !ok {
		return
	}
	n := int64(0)
	for _, id := range ids {
		p, err := g.Find(id)
		if err == nil && p != nil {
			err = g.Remove(p)
		}
		if err != nil {
			x.FailPart(n > 0, err)
			return
		}
		if p != nil {
			n++
		}
	}
	g.Save()
	x.Int(n)
}

// pendingQuery is what XPENDING asks for.
type pendingQuery struct {
	idle        int64 // ms at least
	first, last collection.ID
	count       int64
	consumer    []byte // nil: any
}

// parsePending reads the arguments of XPENDING behind the group. It has replied, and returns
// false, if they are wrong.
func parsePending(x *command.Call, args [][]byte) (q pendingQuery, ok bool) {
	if len(args) < 3 || len(args) > 6 {
		x.Error(command.MsgSyntax)
		return q, false
	}
	if wire.EqualFold(args[0], "idle") {
		if q.idle, ok = wire.ParseInt(args[1]); !ok {
			x.Error(command.MsgNotInteger)
			return q, false
		}
		if len(args) < 5 {
			x.Error(command.MsgSyntax)
			return q, false
		}
		args = args[2:]
	}
	if q.count, ok = wire.ParseInt(args[2]); !ok {
		x.Error(command.MsgNotInteger)
		return q, false
	}
	if q.first, q.last, ok = interval(x, args[0], args[1]); !ok {
		return q, false
	}
	if len(args) > 3 {
		q.consumer = args[3]
	}
	return q, true
}

func cmdXpending(x *command.Call) {
	var q pendingQuery
	summary := len(x.Args) == 3
	if !summary {
		var ok bool
		if q, ok = parsePending(x, x.Args[3:]); !ok {
			return
		}
	}
	s := &x.Stream
	if !openWholeStream(x, s, x.Args[1]) {
		return
	}
	g, err := s.Group(x.Args[2])
	switch {
	case err != nil:
		x.Fail(err)
		return
	case g == nil:
		noGroup(x, x.Args[1], x.Args[2])
		return
	}
	if summary {
		err = pendingSummary(x, g)
	} else {
		err = pendingList(x, g, &q)
	}
	endReply(x, err)
}

// pendingSummary replies with how many entries are pending, between which IDs, and with whom.
func pendingSummary(x *command.Call, g *collection.Group) error {
	x.Array(4)
	x.Int(g.Pending)
	if g.Pending == 0 {
		x.Null()
		x.Null()
		x.NullArray()
		return nil
	}
	var first collection.ID
	err := g.EachPending(collection.ID{}, collection.MaxID, func(p *collection.Pending) bool {
		first = p.ID
		return false
	})
	if err != nil {
		return err
	}
	last, err := g.LastPending()
	if err != nil {
		return err
	}
	streamID(x.Writer, first)
	streamID(x.Writer, last)
	consumers, err := g.AllConsumers()
	if err != nil {
		return err
	}
	at, n := len(x.Buf), 0
	for _, c := range consumers {
		if c.Pending > 0 {
			x.Array(2)
			x.Bulk(c.Name)
			x.Bulk(command.AppendInt(nil, c.Pending))
			n++
		}
	}
	insertLength(x.Writer, at, '*', n)
	return nil
}

// pendingList replies with what is pending, one by one.
func pendingList(x *command.Call, g *collection.Group, q *pendingQuery) (err error) {
	at, n := len(x.Buf), int64(0)
	now := x.Unit.Now()
	var failure error
	show := func(p *collection.Pending) bool {
		idle := max(now-p.Time, 0)
		switch {
		case p.IsReleased():
			idle = -1
		case q.idle != 0 && idle < q.idle:
			return true
		}
		x.Array(4)
		streamID(x.Writer, p.ID)
		x.Bulk(p.Owner())
		x.Int(idle)
		x.Int(int64(p.Count))
		if !mayGrow(x) {
			failure = errReplySize
		}
		n++
		return failure == nil && n < q.count
	}
	switch {
	case q.count <= 0:
	case q.consumer == nil:
		err = g.EachPending(q.first, q.last, show)
	default:
		err = g.EachPendingOf(q.consumer, q.first, q.last, show)
	}
	if failure != nil {
		err = failure
	}
	if err == nil {
		insertLength(x.Writer, at, '*', int(n))
	}
	return err
}
