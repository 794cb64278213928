package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/rehome"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// scanReply is the size, in bytes, at which a reply of SCAN ends, whatever COUNT
// says.
const scanReply = 1 << 20

// awaitSeen waits until what a scan or a count has seen is durable: else a crash
// could undo what a client was shown. If that cannot be, it has replaced the reply
// from byte at on by an error, and returns false.
func (x *call) awaitSeen(at int) bool {
	var done store.Signal
	if !x.srv.store.AwaitAll(&done) {
		return true
	}
	if err := done.Wait(); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
		return false
	}
	return true
}

func cmdScan(x *call) {
	from, ok := command.ParseCursor(x.Args[1])
	if !ok {
		x.Fail(store.ErrCursor)
		return
	}
	args := x.Args[2:]
	forNode := asksNode(x)
	if routes := x.srv.routes.Load(); forNode && (x.conn.from.known != routes.known() || routes.policies().Swapping()) {
		x.notRun()
		return
	}
	course := rehome.Course{At: from, Fresh: from == 0}
	if n := len(args); forNode && n >= 3 && string(args[n-3]) == inLayout {
		head, _ := wire.ParseInt(args[n-2])
		course.Layout = rehome.Layout{Head: database.Head(head), Named: true}
		course.Flips, _ = strconv.ParseUint(string(args[n-1]), 10, 64)
		args = args[:n-3]
	}
	if n := len(args); forNode && n >= 2 && string(args[n-2]) == inDatabase {
		number, _ := wire.ParseInt(args[n-1])
		args, x.agreed.data = args[:n-2], int(number)
		defer func() { x.agreed.data = 0 }()
	}
	o, msg := command.ParseScanOptions(args, store.None)
	if msg != "" {
		x.Error(msg)
		return
	}
	l := x.newLister(o.Pattern, scanReply)
	s := newScan(x, &o, l)
	here := x.conn.session.redirect && x.Row.Name == "scan" // its cursors are those of the store
	if forNode || here {
		s.Layout, s.At, s.Fresh, s.Flips = course.Layout, course.At, course.Fresh, course.Flips
	} else {
		s.Start(x.srv.policies().Of(l.data), from)
	}
	if !s.At.Valid() { // behind the last key
		x.Buf = x.Buf[:l.at]
		x.Array(2)
		x.BulkString("0")
		x.Array(0)
		return
	}
	switch routes := x.srv.routes.Load(); {
	case routes == nil:
		_, err := s.here(ring.Whole, nil)
		l.end(err, &s.At)
	case forNode:
		l.end(s.part(), &s.At)
	case here:
		l.end(s.own(), &s.At)
	default:
		err := s.cluster()
		next := s.Cursor()
		l.end(err, &next)
	}
}
