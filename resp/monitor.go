package resp

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/listening"
)

// monitors are the clients that sent MONITOR and see every command.
type monitors struct{ listening.Set[*conn] }

func (m *monitors) add(c *conn) {
	m.Add(c)
	c.session.monitor.Store(true)
}

func (m *monitors) remove(c *conn) {
	if m.Remove(c) {
		c.session.monitor.Store(false)
	}
}

// feed shows a command of c to all monitors, or of a script that it runs, but for those that
// are the server's own business; passwords are left out.
func (m *monitors) feed(c *conn, cmd *command.Row, args [][]byte, scripted bool) {
	if cmd.Flags&(command.FlagSkipMonitor|command.FlagAdmin) != 0 && !cmd.Script {
		return
	}
	number := int(c.session.database.Load())
	if i := slices.IndexFunc(args, database.HasMark); i >= 0 {
		number = c.srv.policies().Number(database.HeadOf(args[i]))
	}
	from := c.net.RemoteAddr()
	if scripted {
		from = nil
	}
	line := admin.MonitorLine(time.Now(), number, from, cmd.Redacted(args))
	m.Each(func(to *conn) { to.pushes.push(line) })
}

// cmdMonitor has its reply sent before the first line is.
func cmdMonitor(x *call) {
	if x.InTransaction { // its lines would come between the replies of the transaction
		x.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
		return
	}
	x.OK()
	if !x.conn.session.monitor.Load() {
		c := x.conn
		x.then = func() { c.srv.monitors.add(c) }
	}
}
