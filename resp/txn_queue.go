package resp

import (
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A multi is a connection's transaction: what it watches, and what it has queued since
// MULTI. It belongs to the connection's goroutine, but for what is atomic.
//
// A transaction is queued here and becomes one request at EXEC, RING EXEC, whose keys are
// those of all its commands and those that are watched: so it goes where any request on
// several keys goes, and is run there in one unit (see cmdRingExec).
type multi struct {
	open    bool
	refused bool // EXEC will refuse it, since one of its commands cannot be run
	// by are the forms of the keys of what is queued and watched.
	by *database.Policies
	// database is the one in which the next command that is queued works.
	database int
	spent    int64 // bytes of transactions that are over, which this pipeline still runs
	cmds     []queued
	// queue holds, of each command, the number of its arguments and these, as bulk strings.
	queue []byte
	words int // bulk strings in queue
	// subscribes: a queued command changes subscriptions, on which the reply to a later PING
	// depends.
	subscribes bool
	exec       [4]byte // EXEC as the client has written it last, for monitors
	as         string  // the user for whom scripts run, if their commands are to be checked
	watched    []command.Watched
	charged    int64 // bytes that count for the server's budget
	// count is 1 + the number of queued commands; 0 if there is no MULTI.
	count    atomic.Int32
	watching atomic.Int32 // len(watched)
	// full is which other nodes refuse writes to which databases, of those that were asked.
	full map[[2]string]bool
	// since when a client keeps a large transaction waiting for its end, on the server's
	// clock; 0 when it does not.
	since atomic.Int64
}

// A queued is a command of a transaction.
type queued struct {
	cmd  *command.Row
	end  int  // of it in multi.queue
	here bool // runs at the client's node in its turn, wherever the keys are
	// denied is the reply if the client may not send it any more.
	denied string
}

const (
	msgExecAbort = "EXECABORT Transaction discarded because of previous errors."
	msgNotQueued = "ERR the transaction is larger than it may be (client-memory, max-args)"
	queuedCost   = 64 // bytes that a queued command or watched key takes beside its own
)

// begin notes the present forms of keys, if nothing is queued or watched yet.
func (m *multi) begin(c *conn) {
	if len(m.cmds)+len(m.watched) == 0 {
		m.by = c.srv.policies()
	}
}

// end ends the transaction and forgets what is watched.
func (m *multi) end() {
	m.open, m.refused = false, false
	m.clear()
	clear(m.full)
	clear(m.watched)
	m.watched = m.watched[:0]
	m.watching.Store(0)
	m.count.Store(0)
}

// clear drops what is queued.
func (m *multi) clear() {
	m.cmds, m.queue, m.words, m.subscribes = m.cmds[:0], m.queue[:0], 0, false
	if cap(m.queue) > freeInput {
		m.cmds, m.queue = nil, nil
	}
	m.spent += m.charged
	m.charged = 0
	m.since.Store(0)
}

// forget gives back what transactions that are over were charged.
func (m *multi) forget(c *conn) {
	if m.spent > 0 {
		c.srv.budget.Release(&c.Account, m.spent)
		m.spent = 0
	}
}

// charge takes n bytes for the transaction, or reports that there is no memory for them.
func (m *multi) charge(c *conn, n int64) bool {
	if m.charged+n > c.srv.settings.ClientMemory.Load()/2 {
		return false
	}
	switch {
	case m.charged+n <= keepInput:
		c.srv.budget.Take(&c.Account, n)
	case !c.srv.budget.Charge(&c.Account, n):
		c.srv.budget.Release(&c.Account, n)
		return false
	default:
		m.since.Store(int64(c.srv.clock()))
	}
	m.charged += n
	return true
}

// queues tells whether a request of an open transaction waits for EXEC. If it is EXEC and
// all is at hand, it becomes the request that runs the transaction.
func (c *conn) queues(r *request) bool {
	if r.msg != "" {
		if r.cmd != nil && r.cmd.InMulti == command.MultiEnds {
			noteRequest(c, r, "multi")
			c.multi.end()
			return false
		}
		return true
	}
	if r.cmd.InMulti == command.MultiEnds {
		c.transact(r)
		return false
	}
	return r.cmd.InMulti == command.MultiQueues
}

// queue takes a request into the transaction, or says why not. It returns how many requests
// it has answered: 0 if the request is to be looked at again.
func (c *conn) queue(r *request) int {
	m := &c.multi
	if msg := c.unqueueable(r); msg != "" {
		noteRequest(c, r, "multi")
		m.refused = true
		m.clear()
		c.refuse(r, msg)
		return 1
	}
	if routes := c.srv.routes.Load(); routes != nil && redirects(c, routes) && r.cmd.Keyed {
		if c.ownerOf(r, routes); r.msg == "" && r.owner != ownerSelf && !c.readsCopy(r, routes) {
			n := c.answerRemote([]request{*r}, routes)
			m.refused = m.refused || n > 0
			return n
		}
	}
	if !m.refused { // or it would be kept in vain
		if c.seeks(r) && !c.seek(r) {
			return 1
		}
		if m.begin(c); r.by.Swaps() != m.by.Swaps() {
			if keys, err := r.cmd.KeysOf(c.args[r.first:r.last], nil); err == nil && len(keys) > 0 {
				renewKeys(c, r, m.by, keys)
			}
		}
		args := c.words(r)
		m.queue = wire.AppendBulkInt(m.queue, int64(len(args)))
		for _, arg := range args {
			m.queue = wire.AppendBulk(m.queue, arg)
		}
		m.words += 1 + len(args)
		m.subscribes = m.subscribes || r.cmd.Subscribes
		m.cmds = append(m.cmds, queued{cmd: r.cmd, end: len(m.queue), here: m.subscribes && r.cmd.TellsSubscribed})
	}
	noteSelect(c, r)
	m.count.Add(1)
	c.session.lastCmd.Store(r.cmd)
	at := len(c.out.Buf)
	c.out.Simple("QUEUED")
	c.count(nil, at)
	return 1
}

// unqueueable is why a request cannot be a part of a transaction, or "".
func (c *conn) unqueueable(r *request) string {
	m := &c.multi
	switch {
	case r.msg != "":
		return r.msg
	case r.cmd.Flags&command.FlagNoMulti != 0:
		return "ERR Command not allowed inside a transaction"
	case r.cmd.Between && r.cmd.As == nil:
		return r.msg
	}
	if msg := refusedInQueue(c, r); msg != "" {
		return msg
	}
	args := c.args[r.first:r.last]
	size := queuedCost
	for _, arg := range args {
		size += len(arg) + queuedCost/4
	}
	if m.words+1+len(args)+2*len(m.watched)+3 > int(c.srv.settings.MaxArgs.Load()) || !m.refused && !m.charge(c, int64(size)) {
		return msgNotQueued
	}
	keys, err := r.cmd.KeysOf(args, c.keys[:0])
	if err == nil {
		c.keys = keys
		for _, k := range keys {
			if c.srv.settings.IsTooLong(args[k.Pos]) {
				return command.MsgKeyTooLong
			}
		}
	}
	return ""
}

// ships tells whether a command of a transaction is run where the keys are. Others are this
// connection's own, or nobody's in particular.
func (q *queued) ships() bool { return !q.here && (q.cmd.Keyed || q.cmd.Neutral) }

// transact makes of EXEC the request that runs the transaction, and ends it here, unless
// cmdExec has more to do.
func (c *conn) transact(r *request) {
	m := &c.multi
	copy(m.exec[:], c.args[r.first])
	if c.from == nil && !mayWrite(c, c.users) && slices.ContainsFunc(m.cmds, func(q queued) bool { return q.cmd.MayWrite }) {
		m.refused = true // the cluster has become a replica
	}
	if m.refused || len(m.cmds) == 0 && len(m.watched) == 0 {
		return
	}
	c.session.lastCmd.Store(r.cmd)
	denyQueued(c)
	if !m.shipsAll() {
		return
	}
	c.become(r, m.request(0, len(m.cmds), true))
	r.by = m.by
	m.end()
}

// become makes r another request.
func (c *conn) become(r *request, raw []byte) {
	first := len(c.args)
	c.args = wire.Split(raw, c.args)
	*r = request{first: first, last: len(c.args), raw: raw, until: r.until, part: r.part}
	r.cmd, r.msg = c.srv.table.Lookup(c.args[first:])
	unwrap(c, r)
}

// request is the request that runs commands of the transaction, but for those that are run
// here, if what is watched, where that is asked, has not changed.
func (m *multi) request(from, to int, watching bool) []byte {
	start, words, writes := 0, 0, false
	if from > 0 {
		start = m.cmds[from-1].end
	}
	var body []byte
	for at, i := start, from; i < to; i++ {
		q := &m.cmds[i]
		if q.ships() {
			body = append(body, m.queue[at:q.end]...)
			words += 1 + wordsOf(m.queue[at:q.end])
			writes = writes || q.cmd.MayWrite
		}
		at = q.end
	}
	var keys []command.Watched
	if watching {
		keys = m.watched
	}
	return command.ExecRequest(m.as, writes, keys, body, words)
}

// wordsOf reads the number that a queued command begins with.
func wordsOf(b []byte) int {
	text, _ := wire.ReplyText(b)
	n, _ := strconv.Atoi(string(text))
	return n
}

// argsOf appends the arguments of a queued command.
func (m *multi) argsOf(i int, args [][]byte) [][]byte {
	at := 0
	if i > 0 {
		at = m.cmds[i-1].end
	}
	b := m.queue[at:m.cmds[i].end]
	for b = b[wire.ValueLen(b):]; len(b) > 0; b = b[wire.ValueLen(b):] {
		text, _ := wire.ReplyText(b)
		args = append(args, text)
	}
	return args
}
