package admin

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
func cmdLastsave(x *call) { x.Int(x.srv.Store.LastSync().Unix()) }

func cmdShutdown(x *call) {
	o, ok := parseShutdown(x.Args[1:])
	switch {
	case !ok:
		x.Error(command.MsgSyntax)
	case o.abort && x.srv.stopping.Load():
		x.Error("ERR The shutdown has gone too far to be aborted.")
	case o.abort:
		x.Error("ERR No shutdown in progress.")
	case !o.force && !o.nosave && x.srv.Store.Writable() != nil:
		// Not everything that was acknowledged may be on disk, and the store
		// may still recover.
		x.srv.Log.Error("SHUTDOWN is refused without FORCE or NOSAVE", "err", x.srv.Store.Writable())
		x.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	default:
		x.srv.Log.Info("a client shuts the server down", "client", x.client.ID(), "addr", x.client.Addr())
		if !x.srv.stopping.Swap(true) {
			x.srv.Shutdown()
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
