package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Redis' snapshots: here a write is in the log before its reply leaves, so all that is left
// to do is to have the log on stable storage.

func cmdSave(x *call) {
	if x.synced() {
		x.OK()
	}
}

func cmdBgsave(x *call) {
	if len(x.Args) > 2 || len(x.Args) == 2 && !wire.EqualFold(x.Args[1], "schedule") {
		x.Error(command.MsgSyntax)
		return
	}
	if x.synced() {
		x.Simple("Background saving started")
	}
}

// synced has all that was written on stable storage. It has replied if it could not.
func (x *call) synced() bool {
	if err := x.srv.Store.Sync(); err != nil {
		x.Fail(err)
		return false
	}
	return true
}

// cmdBgrewriteaof: the log is never longer than what has not been written to tables yet.
func cmdBgrewriteaof(x *call) { x.Simple("Background append only file rewriting started") }
