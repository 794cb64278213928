package resp

import (
	"strconv"
	"time"
)

func cmdTime(x *call) {
	now := time.Now()
	x.array(2)
	x.bulkString(strconv.FormatInt(now.Unix(), 10))
	x.bulkString(strconv.Itoa(now.Nanosecond() / 1000))
}

// cmdLastsave tells until when all writes are known to be on disk.
func cmdLastsave(x *call) { x.integer(x.srv.store.LastSync().Unix()) }

const msgNoDebug = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`

// mayDebug reports whether the client may send DEBUG.
func (c *conn) mayDebug() bool {
	setting := c.srv.cfg.Debug
	return setting == "yes" || setting == "local" && isLoopback(c.net.RemoteAddr())
}

func cmdDebug(x *call) {
	switch sub := x.args[1]; {
	case equalFold(sub, "sleep") && len(x.args) == 3:
		// As Redis, it takes what is no number for 0. Unlike there, only this
		// connection sleeps.
		seconds, _ := parseFloat(x.args[2])
		if seconds = min(seconds, maxSleep.Seconds()); seconds > 0 {
			x.conn.wait(time.Duration(seconds*float64(time.Second)), nil)
		}
		x.ok()
	case equalFold(sub, "help") && len(x.args) == 2:
		help(&x.Call, "DEBUG",
			"SLEEP <seconds>",
			"    Keep this connection waiting.",
		)
	default:
		x.wrongSubcommand("DEBUG")
	}
}

const maxSleep = 24 * time.Hour

// cmdMonitor has its reply sent before the first line is.
func cmdMonitor(x *call) {
	if x.inside { // its lines would come between the replies of the transaction
		x.err("ERR MONITOR isn't allowed for DENY BLOCKING client")
		return
	}
	x.ok()
	if !x.conn.session.monitor.Load() {
		c := x.conn
		x.then = func() { c.srv.monitors.add(c) }
	}
}

func cmdShutdown(x *call) {
	o, ok := parseShutdown(x.args[1:])
	switch {
	case !ok:
		x.err(msgSyntax)
	case o.abort && x.srv.stopping.Load():
		x.err("ERR The shutdown has gone too far to be aborted.")
	case o.abort:
		x.err("ERR No shutdown in progress.")
	case !o.force && !o.nosave && x.srv.store.Writable() != nil:
		// Not everything that was acknowledged may be on disk, and the store
		// may still recover.
		x.srv.log.Error("SHUTDOWN is refused without FORCE or NOSAVE", "err", x.srv.store.Writable())
		x.err("ERR Errors trying to SHUTDOWN. Check logs.")
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
		case equalFold(arg, "nosave"):
			o.nosave = true
		case equalFold(arg, "save"):
			save = true
		case equalFold(arg, "now"):
			now = true
		case equalFold(arg, "force"):
			o.force = true
		case equalFold(arg, "abort"):
			o.abort = true
		default:
			return o, false
		}
	}
	return o, !(save && o.nosave) && !(o.abort && (save || now || o.nosave || o.force))
}
