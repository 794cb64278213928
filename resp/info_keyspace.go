package resp

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// infoPatience is how long INFO waits for the counts of other nodes. Health checks send INFO,
// also while nodes are away.
const infoPatience = 500 * time.Millisecond

// infoKeyspace counts what DBSIZE counts, for each database that has keys: on a forward connection the
// keys of the cluster, on a redirect connection, as in Redis Cluster, those of this node's primaries.
// While not all nodes answer, it counts those of this node.
func infoKeyspace(w *admin.Info, x *call) {
	for n, held := range x.keyspaces() {
		if held.keys > 0 {
			w.Line("db"+strconv.Itoa(n), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", held.keys, held.expires))
		}
	}
}

// A keyspace is the number of keys in some ranges, and of those of them that have an expiry.
type keyspace struct{ keys, expires int64 }

// keyspaces counts the keys of each database as the connection sees them.
func (x *call) keyspaces() []keyspace {
	if x.srv.routes.Load() != nil && x.spreads() && !x.InScript {
		at := len(x.Buf)
		if replies, ok := x.scatter(infoPatience, []byte("RING"), []byte("KEYSPACE")); ok {
			return sumKeyspaces(replies)
		}
		x.Buf = x.Buf[:at] // without the error
	}
	return x.srv.keyspacesIn(x.srv.ownSpans())
}

// keyspacesIn counts keys in this node's store by their databases. It looks at no lease: the counts are
// statistics.
func (s *Server) keyspacesIn(spans []ring.Range) []keyspace {
	all := make([]keyspace, s.cfg.Databases())
	for _, span := range spans {
		loads, err := s.store.LoadByDatabase(span)
		if err != nil {
			continue
		}
		for n, load := range loads {
			if n < len(all) {
				all[n].keys += load.Keys
				all[n].expires += load.Expires
			}
		}
	}
	return all
}

// cmdRingKeyspace is this node's part of INFO, within RING PART: for each database from 0 on keys, and
// keys with an expiry. It ends with the last database that has keys.
func cmdRingKeyspace(x *call) {
	all := x.srv.keyspacesIn(x.agreed.spans)
	for len(all) > 1 && all[len(all)-1].keys == 0 {
		all = all[:len(all)-1]
	}
	x.Array(2 * len(all))
	for _, n := range all {
		x.Int(n.keys)
		x.Int(n.expires)
	}
}

// sumKeyspaces adds up replies of cmdRingKeyspace.
func sumKeyspaces(replies [][]byte) (sum []keyspace) {
	for _, reply := range replies {
		body, _ := wire.ArrayBody(reply)
		next := func() int64 {
			n := wire.ValueLen(body)
			number, _ := wire.ReplyInt(body[:n])
			body = body[n:]
			return number
		}
		for i := range wire.ArrayLen(reply) / 2 {
			if i == len(sum) {
				sum = append(sum, keyspace{})
			}
			sum[i].keys += next()
			sum[i].expires += next()
		}
	}
	return sum
}
