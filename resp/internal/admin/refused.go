package admin

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
)

// Commands of Redis that Ringside has only to say why not, which helps more than that they
// are unknown.

const (
	msgNoMigrate   = "ERR MIGRATE is not supported: nodes of a cluster hand keys over by themselves, DUMP and RESTORE carry them elsewhere"
	msgNoReplicaof = "ERR REPLICAOF is not supported: a node that is started with --join gets its share of the keys and copies of others, and ringside import --from follows a Redis"
	msgNoFailover  = "ERR FAILOVER is not supported: backups take over automatically; RING LEAVE hands over the data of this node"
)

// cmdRole says that clients may write here, and which replicas of Redis follow.
func cmdRole(x *call) {
	o := x.srv.Source.Replicas()
	x.Array(3)
	x.BulkString("master")
	x.Int(o.End)
	x.Array(len(o.Replicas))
	for _, r := range o.Replicas {
		x.Array(3)
		x.BulkString(r.Host)
		x.BulkString(strconv.Itoa(r.Port))
		x.BulkString(strconv.FormatInt(r.Offset, 10))
	}
}

func cmdReplicaof(x *call) {
	if wire.EqualFold(x.Args[1], "no") && wire.EqualFold(x.Args[2], "one") {
		x.OK()
		return
	}
	x.Error(msgNoReplicaof)
}
