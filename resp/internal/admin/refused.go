package admin

import (
	"github.com/ringside-kv/ringside/resp/wire"
)

// Commands of Redis that Ringside has only to say why not, which helps more than that they
// are unknown.

const (
	msgNoMigrate     = "ERR MIGRATE is not supported: nodes of a cluster hand keys over by themselves, DUMP and RESTORE carry them elsewhere"
	msgNoReplication = "ERR Redis' replication is not supported: nodes that --join a cluster keep copies of its keys"
	msgNoReplicaof   = "ERR REPLICAOF is not supported: start a node with --join, and it gets its share of the keys and copies of others"
	msgNoFailover    = "ERR FAILOVER is not supported: backups take over automatically; RING LEAVE hands over the data of this node"
)

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
