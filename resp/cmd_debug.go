package resp

import (
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

const msgNoDebug = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`

// mayDebug reports whether the client may send DEBUG.
func (c *conn) mayDebug() bool {
	setting := c.srv.cfg.Debug
	return setting == "yes" || setting == "local" && socket.IsLoopback(c.net.RemoteAddr())
}

func cmdDebug(x *call) {
	switch sub := x.Args[1]; {
	case wire.EqualFold(sub, "sleep") && len(x.Args) == 3:
		// As Redis, it takes what is no number for 0. Unlike there, only this
		// connection sleeps.
		seconds, _ := wire.ParseFloat(x.Args[2])
		if seconds = min(seconds, maxSleep.Seconds()); seconds > 0 {
			x.conn.wait(time.Duration(seconds*float64(time.Second)), nil)
		}
		x.OK()
	case wire.EqualFold(sub, "help") && len(x.Args) == 2:
		command.Help(&x.Call, "DEBUG",
			"SLEEP <seconds>",
			"    Keep this connection waiting.",
		)
	default:
		x.WrongSubcommand("DEBUG")
	}
}

const maxSleep = 24 * time.Hour
