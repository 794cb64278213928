package resp

import (
	"errors"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A call is a Call of a connection, with what the server needs to run it.
type call struct {
	command.Call
	srv  *Server
	conn *conn
	// touched are keys that a script may have written to, if anybody waits for any.
	touched [][]byte
	// req is what runs, if it is a request of a client.
	req *request
	// waiter is how the command waits, if it has found nothing.
	waiter *waiter
	// agreed is what the command is to cover, if it is a part of one on all keys.
	agreed coverage
	// scriptDatabase is the database of the script that runs.
	scriptDatabase int
	// wrote: the transaction or script that runs has called a command that writes.
	wrote bool
	// streamed is the number of bytes of the reply that have left already.
	streamed int
	// waited is time that the command has spent waiting, not working.
	waited time.Duration
	// errorsCounted: the errors among the reply are in the statistics already. A script sets it.
	errorsCounted bool
	// then, if set by a command that works on no keys, is called before its reply leaves;
	// what is pushed to the client from then on leaves after it.
	then func()
}

// init sets up the call of a connection, once.
func (x *call) init(c *conn) {
	x.Call = command.Call{
		Unit: c.unit, Host: x, Limits: &c.srv.settings.Limits, Draws: &c.srv.draws,
		OpenTypes: c.srv.types.Open,
		Lookups:   &c.Pending.Lookups,
	}
	x.srv, x.conn = c.srv, c
}

// byServer is the handler of a command that acts on the server or on the connection.
func byServer(run func(*call)) func(*command.Call) {
	return func(x *command.Call) { run(x.Host.(*call)) }
}

func (x *call) RunsAhead() bool { return x.conn.runsAhead() }

func (x *call) Borrow(n int64) bool { return x.srv.budget.Borrow(&x.conn.Account, n) }

func (x *call) Spare(n int64) bool { return x.srv.budget.Spare(&x.conn.Account, n) }

func (x *call) Charge(n int64) bool {
	if x.srv.budget.Charge(&x.conn.Account, n) {
		return true
	}
	x.srv.budget.Release(&x.conn.Account, n)
	return false
}

func (x *call) Release(n int64) { x.srv.budget.Release(&x.conn.Account, n) }

// Stream sends a long string as it is read. The unit has no latches, so
// nobody waits for a client that reads slowly.
func (x *call) Stream(key []byte, v store.Value, off, n int64) {
	if x.conn.session.replies != replyOn {
		x.OK() // whatever it is, it is dropped
		return
	}
	if err := x.Unit.AwaitReads(); err != nil {
		x.Fail(err)
		return
	}
	x.BulkHeader(int(n))
	x.streamed = int(n)
	for n > 0 {
		m := min(n, flushSize)
		var err error
		if x.Buf, err = x.Unit.ReadRange(key, v, off, m, x.Buf); err != nil {
			// The length is out already: no error reply can follow.
			x.srv.log.Error("closing a client: its reply cannot be completed", "err", err)
			x.conn.closing = true
			x.conn.close()
			return
		}
		off += m
		if n -= m; n == 0 {
			x.Buf = append(x.Buf, '\r', '\n')
		}
		if x.conn.flush() != nil {
			x.conn.closing = true
			return
		}
	}
}

func (x *call) Failed(err error) bool {
	switch {
	case errors.Is(err, command.ErrMoved) && asksNode(x):
		x.notRun()
		return true
	case errors.Is(err, errLate):
		x.srv.stats.Late.Add(1)
		x.says(StatusLate)
		x.Error(msgLate)
		return true
	}
	x.says(statusOf(err))
	return false
}

// notRun replies that a request was not run, for the node that forwards it to send it again.
func (x *call) notRun() {
	x.says(StatusNotRun)
	x.Error(msgNotMine)
}

// Databases returns how many databases there are. A node that does not know it yet has one.
func (x *call) Databases() int { return max(x.srv.cfg.Databases(), 1) }

func (x *call) ReachesAll() bool {
	x.conn.touchAny()
	return !x.srv.settings.StrictSlots.Load() && x.srv.servesAll()
}

// IsHere implements command.Host.
func (x *call) IsHere(stored []byte) bool {
	return x.conn.routes.policies().FormOf(stored) == database.Present
}

// servesAll reports whether every key there can be is this node's.
func (s *Server) servesAll() bool {
	routes := s.routes.Load()
	return routes == nil || len(routes.spans) == 1 && routes.spans[0] == ring.Whole
}
