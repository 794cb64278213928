package resp

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/keyspace"
	"github.com/ringside-kv/ringside/resp/internal/quota"
)

// infoPatience is how long INFO waits for the counts of other nodes. Health checks send INFO,
// also while nodes are away.
const infoPatience = 500 * time.Millisecond

// infoKeyspace counts what DBSIZE counts, for each database that has keys: on a forward connection the
// keys of the cluster, on a redirect connection, as in Redis Cluster, those of this node's primaries.
// While not all nodes answer, it counts those of this node.
func infoKeyspace(w *admin.Info, x *call) {
	for n, held := range x.keyspaces() {
		if held.Keys > 0 {
			w.Line("db"+strconv.Itoa(n), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0,subexpiry=%d", held.Keys, held.Expires, held.TimedHashes))
		}
	}
}

// infoDatabases tells what each database that has keys, a policy or a quota, holds. Parsers of the section
// Keyspace would not know the fields.
func infoDatabases(w *admin.Info, x *call) {
	policies := x.srv.policies()
	for n, held := range x.keyspaces() {
		limit := x.srv.quota.LimitOf(n)
		if policy := policies.OfDatabase(n); held.Keys > 0 || policy.Together || limit != (quota.Limit{}) {
			w.Line("database_"+strconv.Itoa(n), fmt.Sprintf("policy=%s,keys=%d,expires=%d,bytes=%d,quota=%d,quota_policy=%s",
				policy, held.Keys, held.Expires, held.Bytes, limit.Bytes, cmp.Or(limit.Policy, "none")))
		}
	}
}

// keyspaces counts the keys of each database as the connection sees them.
func (x *call) keyspaces() []keyspace.Count {
	if x.srv.routes.Load() != nil && x.spreads() && !x.InScript {
		at := len(x.Buf)
		if replies, ok := x.scatter(infoPatience, []byte("RING"), []byte("KEYSPACE")); ok {
			return keyspace.ByNumber(keyspace.Sum(replies), x.Databases(), x.srv.policies())
		}
		x.Buf = x.Buf[:at] // without the error
	}
	return keyspace.ByNumber(keyspace.In(x.srv.store, x.srv.ownSpans(), x.Databases()), x.Databases(), x.srv.policies())
}

// cmdRingKeyspace is this node's part of INFO, within RING PART.
func cmdRingKeyspace(x *call) {
	keyspace.Reply(x.Writer, keyspace.In(x.srv.store, x.agreed.spans, x.Databases()))
}
