package resp

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
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
	args = redacted(cmd, args)
	now := time.Now()
	from := "lua"
	if !scripted {
		from = c.net.RemoteAddr().String()
	}
	line := fmt.Appendf(nil, "+%d.%06d [0 %s]", now.Unix(), now.Nanosecond()/1000, from)
	for _, arg := range args {
		line = append(line, ' ')
		line = appendQuoted(line, arg)
	}
	line = append(line, '\r', '\n')
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, to := range m.conns {
		to.push(line)
	}
}

var redactedWord = []byte("(redacted)")

// redacted returns a call's arguments for others to see: with passwords, and the
// names that go with them, replaced.
func redacted(cmd *command.Row, args [][]byte) [][]byte {
	hide := func(from, to int) {
		args = slices.Clone(args)
		for i := from; i < min(to, len(args)); i++ {
			args[i] = redactedWord
		}
	}
	switch cmd.Full {
	case "auth":
		hide(1, len(args))
	case "hello":
		for i := 2; i < len(args); i++ {
			switch {
			case wire.EqualFold(args[i], "auth"):
				hide(i+1, i+3)
				i += 2
			case wire.EqualFold(args[i], "setname"):
				i++
			}
		}
	case "config|set":
		for i := 2; i+1 < len(args); i += 2 {
			if wire.EqualFold(args[i], "requirepass") {
				hide(i+1, i+2)
			}
		}
	}
	return args
}

// appendQuoted appends b as Redis shows it: in double quotes, all but printable
// ASCII escaped.
func appendQuoted(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch {
		case c == '\\' || c == '"':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\a':
			dst = append(dst, '\\', 'a')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c < ' ' || c > '~':
			dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
