package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Commands of Redis that Ringside has only to say why not, which helps more than that they
// are unknown.

const (
	msgOneUser       = "ERR there is one user, default, who may do everything; requirepass is the password"
	msgNoMigrate     = "ERR MIGRATE is not supported: nodes of a cluster hand keys over by themselves, DUMP and RESTORE carry them elsewhere"
	msgNoReplication = "ERR Redis' replication is not supported: nodes that --join a cluster keep copies of its keys"
	msgNoReplicaof   = "ERR REPLICAOF is not supported: start a node with --join, and it gets its share of the keys and copies of others"
	msgNoFailover    = "ERR FAILOVER is not supported: backups take over automatically; RING LEAVE hands over the data of this node"
	msgNoRewrite     = "ERR The server is running without a config file"
)

// cmdMove: there is one database, so it is either the same or none.
func cmdMove(x *call) {
	n, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
	case n != int64(int32(n)):
		x.Error(command.MsgDatabaseRange)
	case n != 0:
		x.Error(command.MsgNoDatabase)
	default:
		x.Error("ERR source and destination objects are the same")
	}
}

func cmdSwapdb(x *call) {
	a, ok1 := wire.ParseInt(x.Args[1])
	b, ok2 := wire.ParseInt(x.Args[2])
	switch {
	case !ok1 || a != int64(int32(a)):
		x.Error("ERR invalid first DB index")
	case !ok2 || b != int64(int32(b)):
		x.Error("ERR invalid second DB index")
	case a != 0 || b != 0:
		x.Error(command.MsgNoDatabase)
	default:
		x.OK()
	}
}

// cmdRole: whoever asks may write here.
func cmdRole(x *call) {
	x.Array(3)
	x.BulkString("master")
	x.Int(0)
	x.Array(0)
}

func cmdReplicaof(x *call) {
	if wire.EqualFold(x.Args[1], "no") && wire.EqualFold(x.Args[2], "one") {
		x.OK()
		return
	}
	x.Error(msgNoReplicaof)
}
