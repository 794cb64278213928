package resp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// monitors are the clients that sent MONITOR and see every command.
type monitors struct {
	n     atomic.Int32
	mu    sync.Mutex
	conns []*conn
}

func (m *monitors) active() bool { return m.n.Load() > 0 }

func (m *monitors) add(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.conns, c) {
		m.conns = append(m.conns, c)
		c.session.monitor.Store(true)
		m.n.Store(int32(len(m.conns)))
	}
}

func (m *monitors) remove(c *conn) {
	if !m.active() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns = slices.DeleteFunc(m.conns, func(other *conn) bool { return other == c })
	c.session.monitor.Store(false)
	m.n.Store(int32(len(m.conns)))
}

// feed shows a command of c to all monitors, or of a script that it runs, but for those that
// are the server's own business; passwords are left out.
func (m *monitors) feed(c *conn, cmd *command.Row, args [][]byte, scripted bool) {
	if cmd.Flags&(command.FlagSkipMonitor|command.FlagAdmin) != 0 && !cmd.Script {
		return
	}
	number := int(c.session.database.Load())
	if i := slices.IndexFunc(args, database.HasMark); i >= 0 {
		number = database.Of(args[i])
	}
	args = cmd.Redacted(args)
	now := time.Now()
	from := "lua"
	if !scripted {
		from = c.net.RemoteAddr().String()
		if c.net.RemoteAddr().Network() == "unix" {
			from = "unix:" + strings.TrimSuffix(from, ":0")
		}
	}
	line := fmt.Appendf(nil, "+%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, number, from)
	for _, arg := range args {
		line = append(line, ' ')
		line = admin.AppendQuoted(line, arg)
	}
	line = append(line, '\r', '\n')
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, to := range m.conns {
		to.pushes.push(line)
	}
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
