package admin

import (
	"net"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// MsgNoDebug is the reply to DEBUG of a client that may not send it.
const MsgNoDebug = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`

// MayDebug reports whether a client of an address may send DEBUG, by enable-debug-command.
func MayDebug(setting string, client net.Addr) bool {
	return setting == "yes" || setting == "local" && socket.IsLoopback(client)
}

// isDebugOnKey reports whether a call of DEBUG is DEBUG OBJECT key.
func isDebugOnKey(args [][]byte) bool { return len(args) == 3 && wire.EqualFold(args[1], "object") }

func cmdDebug(x *call) {
	switch sub := x.Args[1]; {
	case wire.EqualFold(sub, "sleep") && len(x.Args) == 3:
		// As Redis, it takes what is no number for 0. Unlike there, only this
		// connection sleeps.
		seconds, _ := wire.ParseFloat(x.Args[2])
		if seconds = min(seconds, maxSleep.Seconds()); seconds > 0 {
			x.client.Wait(time.Duration(seconds * float64(time.Second)))
		}
		x.OK()
	case wire.EqualFold(sub, "help") && len(x.Args) == 2:
		command.Help(x.Call, "DEBUG",
			"OBJECT <key>",
			"    Describe the value of a key.",
			"SLEEP <seconds>",
			"    Keep this connection waiting.",
		)
	default:
		x.WrongSubcommand("DEBUG")
	}
}

const maxSleep = 24 * time.Hour
