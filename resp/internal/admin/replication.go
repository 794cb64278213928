package admin

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/orders"
)

// Commands of Redis about replication. Some are here only to say why not, which helps more than that they are unknown.

const (
	msgNoMigrate  = "ERR MIGRATE is not supported: nodes of a cluster hand keys over by themselves, DUMP and RESTORE carry them elsewhere"
	msgNoFailover = "ERR FAILOVER is not supported: backups take over automatically; RING LEAVE hands over the data of this node"
)

// cmdRole says that clients may write here, and which replicas of Redis follow; or which server this is a replica of.
func cmdRole(x *call) {
	if s := x.srv.Follower.Status(); s.Replica {
		x.Array(5)
		x.BulkString("slave")
		x.BulkString(s.Host)
		x.Int(int64(s.Port))
		x.BulkString(s.State())
		x.Int(s.Applied)
		return
	}
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

// maxHost is how long the name of a host may be. All nodes keep it, and INFO has it on a line.
const maxHost = 255

// cmdReplicaof is REPLICAOF host port, and REPLICAOF NO ONE.
func cmdReplicaof(x *call) {
	host, port := string(x.Args[1]), string(x.Args[2])
	if strings.EqualFold(host, "no") && strings.EqualFold(port, "one") {
		if !x.srv.Follower.Status().Replica {
			x.OK()
			return
		}
		order(x, x.srv.Follower.Unset)
		return
	}
	n, err := strconv.Atoi(port)
	switch {
	case err != nil:
		x.Error(command.MsgNotInteger)
	case n < 1 || n > 65535 || host == "":
		x.Error("ERR Invalid master port")
	case len(host) > maxHost || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == utf8.RuneError }):
		x.Error("ERR Invalid master host")
	case x.srv.Follower.Follows(host, n):
		x.Simple("OK Already connected to specified master")
	default:
		order(x, func(ctx context.Context) error { return x.srv.Follower.Set(ctx, host, n) })
	}
}

// order runs an order to the cluster.
func order(x *call, do func(context.Context) error) {
	if x.Host.(orders.Host).WithOperator(true, func(ctx context.Context, _ orders.Operator) error { return do(ctx) }) {
		x.OK()
	}
}
