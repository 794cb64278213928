package resp

import (
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// infoPatience is how long INFO waits for the counts of other nodes. Health checks send INFO,
// also while nodes are away.
const infoPatience = 500 * time.Millisecond

// infoKeyspace counts what DBSIZE counts: on a forward connection the keys of the cluster, on
// a redirect connection, as in Redis Cluster, those of this node's primaries. While not all
// nodes answer, it counts those of this node.
func infoKeyspace(w *admin.Info, x *call) {
	n := keyspace{w.Store().Keys, w.Store().Expires}
	if x.srv.routes.Load() != nil {
		n = x.keyspace()
	}
	if n.keys > 0 {
		w.Line("db0", fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", n.keys, n.expires))
	}
}

// A keyspace is the number of keys in some ranges, and of those of them that have an expiry.
type keyspace struct{ keys, expires int64 }

// keyspace counts keys as the connection sees them, where there are routes.
func (x *call) keyspace() keyspace {
	if x.spreads() && !x.InScript {
		at := len(x.Buf)
		if replies, ok := x.scatter(infoPatience, []byte("RING"), []byte("KEYSPACE")); ok {
			return sumKeyspaces(replies)
		}
		x.Buf = x.Buf[:at] // without the error
	}
	return x.srv.keyspaceIn(x.srv.routes.Load().spans)
}

// keyspaceIn counts keys in this node's store. It looks at no lease: the counts are statistics.
func (s *Server) keyspaceIn(spans []ring.Range) (n keyspace) {
	for _, span := range spans {
		if load, err := s.store.RangeLoad(span); err == nil {
			n.keys += load.Keys
			n.expires += load.Expires
		}
	}
	return n
}

// cmdRingKeyspace is this node's part of INFO, within RING PART: keys, and keys with an expiry.
func cmdRingKeyspace(x *call) {
	n := x.srv.keyspaceIn(x.agreed.spans)
	x.Array(2)
	x.Int(n.keys)
	x.Int(n.expires)
}

// sumKeyspaces adds up replies of cmdRingKeyspace.
func sumKeyspaces(replies [][]byte) (sum keyspace) {
	for _, reply := range replies {
		if body, ok := wire.ArrayBody(reply); ok {
			n := wire.ValueLen(body)
			keys, _ := wire.ReplyInt(body[:n])
			expires, _ := wire.ReplyInt(body[n:])
			sum.keys += keys
			sum.expires += expires
		}
	}
	return sum
}
