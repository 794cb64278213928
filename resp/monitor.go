package resp

import (
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/monitoring"
)

// MONITOR (package monitoring). A command of a client is shown where the client is connected: by runOne, or by showSent if
// other nodes run it. A node that runs it for another one shows it only to clients that see what this node runs.

func newMonitors(s *Server) *monitoring.Monitors {
	return monitoring.New(monitoring.Config{Self: s.selfID, Run: s.runID, Stop: s.stop, Logger: s.log})
}

// show shows a command of c to monitors, or of a script that it runs, but for those that are the server's own business;
// passwords are left out. number is the database of a command without keys.
func show(c *conn, number int, cmd *command.Row, args [][]byte, to monitoring.Audience, scripted bool) {
	policies := c.srv.policies()
	if cmd.As != nil && cmd.As.Name == "move" { // as the client has sent it
		other := policies.Number(database.HeadOf(args[3]))
		cmd, args = cmd.As, [][]byte{[]byte("MOVE"), args[2], strconv.AppendInt(nil, int64(other), 10)}
	}
	if to == 0 || cmd.Flags&(command.FlagSkipMonitor|command.FlagAdmin) != 0 && !cmd.Script {
		return
	}
	at := slices.IndexFunc(args, database.HasMark)
	if keys, err := cmd.KeysOf(args, nil); err == nil && len(keys) > 0 {
		at = keys[0].Pos // others may be of another database
	}
	if at >= 0 {
		number = policies.Number(database.HeadOf(args[at]))
	}
	from := monitoring.Script
	if !scripted {
		from = monitoring.From(c.net.RemoteAddr())
	}
	c.srv.monitors.Show(monitoring.Line(time.Now(), number, from, cmd.Redacted(args)), to)
}

// whoSees returns which monitors see what a client's request runs here: not those of the whole cluster if another node has sent
// it; none if this node sent it as a part of a request that it shows, or if it is a message that goes to all nodes.
func whoSees(c *conn, cmd *command.Row) monitoring.Audience {
	switch {
	case c.from == nil:
		return monitoring.Own | monitoring.Cluster
	case c.from.group.batches[0].From == "" || cmd.Publishes:
		return 0
	}
	return monitoring.Own
}

// showInner shows a command of a transaction, or of a script, which is shown by the node that runs it.
func showInner(x *call, cmd *command.Row, args [][]byte) {
	to := whoSees(x.conn, cmd)
	if x.InScript {
		to = monitoring.Own | monitoring.Cluster
	}
	show(x.conn, numberOf(x), cmd, args, to, x.InScript)
}

// showWindow shows requests of which this node sends some to other nodes, in their order.
func showWindow(c *conn, reqs []request) {
	if !c.srv.monitors.Any() {
		return
	}
	for i := range reqs {
		switch r := &reqs[i]; {
		case r.msg != "" || r.owner < 0 && r.cmd.KeysOfExec: // which shows its commands itself
		case r.owner < 0:
			showSent(c, r, monitoring.Own|monitoring.Cluster, nil)
		default:
			showSent(c, r, monitoring.Cluster, nil)
		}
	}
}

// showSent shows a request that other nodes run, or this one in parts: before it is sent, without a reply, and after. What
// runs in a transaction that watches keys only the reply tells.
func showSent(c *conn, r *request, to monitoring.Audience, reply []byte) {
	if !c.srv.monitors.Any() || r.shown || c.from != nil {
		return
	}
	args, number := c.args[r.first:r.last], int(c.session.database.Load())
	if watches := len(r.cmd.WatchedKeys(args)) > 0; watches != (reply != nil) {
		return
	}
	r.shown = true
	if !r.cmd.KeysOfExec {
		show(c, number, r.cmd, args, to, false)
		return
	}
	showQueued(c, args, to, reply)
	showExec(c, to)
}

// showQueued shows the commands of RING EXEC, unless it has not run them.
func showQueued(c *conn, args [][]byte, to monitoring.Audience, reply []byte) {
	if !c.srv.monitors.Any() || reply != nil && (reply[0] != '*' || reply[1] == '-') {
		return
	}
	_, queued, _ := command.SplitExec(args)
	for _, words := range command.EachQueued(queued) {
		if cmd, msg := c.srv.table.Lookup(words); msg == "" {
			show(c, int(c.session.database.Load()), cmd, words, to, false)
		}
	}
}

// showExec shows EXEC, behind the commands that it has run.
func showExec(c *conn, to monitoring.Audience) {
	word := c.multi.exec[:]
	if word[0] == 0 { // of another node's client
		word = []byte("EXEC")
	}
	show(c, int(c.session.database.Load()), c.srv.table.ByName["exec"], [][]byte{word}, to, false)
}

// cmdMonitor has its reply sent before the first line is.
func cmdMonitor(x *call) {
	c := x.conn
	if x.InTransaction { // its lines would come between the replies of the transaction
		x.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
		return
	}
	x.OK()
	if !c.session.monitor.Swap(true) {
		x.then = func() { c.srv.monitors.Add(&c.pushes, sees(c), c.gone) }
	}
}

// sees returns what MONITOR shows the client.
func sees(c *conn) monitoring.Audience {
	if c.session.redirect {
		return monitoring.Own
	}
	return monitoring.Cluster
}

// cmdRingMonitor tells another node what runs here: RING MONITOR node session word.
func cmdRingMonitor(x *call) {
	m, node, session := x.srv.monitors, string(x.Args[2]), string(x.Args[3])
	reply, waits := m.Hear(node, session, string(x.Args[4]))
	if !waits {
		x.Buf = append(x.Buf, reply...)
		return
	}
	x.conn.from.parked = func(answer func(Replies, error)) {
		m.Park(node, session, func(reply []byte) { respond(answer, reply, StatusRun) })
	}
}
