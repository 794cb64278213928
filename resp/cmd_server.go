package resp

import (
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdTime(x *call) {
	now := time.Now()
	x.Array(2)
	x.BulkString(strconv.FormatInt(now.Unix(), 10))
	x.BulkString(strconv.Itoa(now.Nanosecond() / 1000))
}

// cmdLastsave tells until when all writes are known to be on disk.
func cmdLastsave(x *call) { x.Int(x.srv.store.LastSync().Unix()) }

const msgNoDebug = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`

// mayDebug reports whether the client may send DEBUG.
func (c *conn) mayDebug() bool {
	setting := c.srv.cfg.Debug
	return setting == "yes" || setting == "local" && isLoopback(c.net.RemoteAddr())
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

func cmdShutdown(x *call) {
	o, ok := parseShutdown(x.Args[1:])
	switch {
	case !ok:
		x.Error(command.MsgSyntax)
	case o.abort && x.srv.stopping.Load():
		x.Error("ERR The shutdown has gone too far to be aborted.")
	case o.abort:
		x.Error("ERR No shutdown in progress.")
	case !o.force && !o.nosave && x.srv.store.Writable() != nil:
		// Not everything that was acknowledged may be on disk, and the store
		// may still recover.
		x.srv.log.Error("SHUTDOWN is refused without FORCE or NOSAVE", "err", x.srv.store.Writable())
		x.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	default:
		x.srv.log.Info("a client shuts the server down", "client", x.conn.session.id, "addr", x.conn.net.RemoteAddr())
		if !x.srv.stopping.Swap(true) {
			x.srv.cfg.Shutdown()
		}
	}
}

// shutdownOptions are those that make a difference here.
type shutdownOptions struct{ nosave, force, abort bool }

func parseShutdown(args [][]byte) (o shutdownOptions, ok bool) {
	save, now := false, false
	for _, arg := range args {
		switch {
		case wire.EqualFold(arg, "nosave"):
			o.nosave = true
		case wire.EqualFold(arg, "save"):
			save = true
		case wire.EqualFold(arg, "now"):
			now = true
		case wire.EqualFold(arg, "force"):
			o.force = true
		case wire.EqualFold(arg, "abort"):
			o.abort = true
		default:
			return o, false
		}
	}
	return o, !(save && o.nosave) && !(o.abort && (save || now || o.nosave || o.force))
}
