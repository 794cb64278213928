package resp

import (
	"context"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/wire"
)

// What the server tells the commands of internal/admin.

func newAdmin(s *Server) *admin.Server {
	return &admin.Server{
		Store: s.store, Users: &s.users, Log: s.log, Table: s.table, Stats: s.stats, Settings: &s.settings, Quota: s.quota,
		Config: newConfig(s), Source: adminSource{s}, Follower: s.follower, Shutdown: s.cfg.Shutdown,
		Version: s.cfg.Version, NodeID: s.cfg.NodeID, RunID: s.runID, ConfigFile: s.cfg.ConfigFile, Zone: s.cfg.Zone, Rewrite: s.cfg.Rewrite,
	}
}

// Admin implements admin.Host.
func (x *call) Admin() (*admin.Server, admin.Client) { return x.srv.admin, adminClient{x.conn} }

// An adminClient is a connection as internal/admin sees it.
type adminClient struct{ c *conn }

func (a adminClient) ID() int64    { return a.c.session.id }
func (a adminClient) Addr() string { return a.c.net.RemoteAddr().String() }

func (a adminClient) Name() string {
	s := &a.c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

func (a adminClient) User() string { return a.c.session.userName() }

func (a adminClient) Describe() string {
	return strings.TrimSuffix(string(a.c.call.appendClient(nil, a.c)), "\n")
}

func (a adminClient) ChangeUsers(change func(ctx context.Context) error) error {
	c := a.c
	c.session.keepOpen.Store(true)
	defer c.session.keepOpen.Store(false)
	err := c.call.within(change)
	if u := c.srv.users.Now().Get(c.session.userName()); u == nil || !mayListen(c, u) {
		c.closing = true
	}
	return err
}

func (a adminClient) Wait(d time.Duration) { a.c.wait(d, nil) }

func (a adminClient) IsNode() bool { return a.c.from != nil }

func (a adminClient) TellNodes(words ...[]byte) (nodes, done int) {
	routes := a.c.srv.routes.Load()
	if routes == nil || a.c.from != nil || a.c.session.redirect || len(routes.peers) == 0 {
		return 0, 0
	}
	return len(routes.peers), len(a.c.call.sendPeers(routes, wire.AppendRequest(nil, words...), 1))
}

// An adminSource is a server as internal/admin sees it.
type adminSource struct{ s *Server }

func (a adminSource) Mode() string                           { return a.s.mode() }
func (a adminSource) Strategy() string                       { return a.s.strategy() }
func (a adminSource) Port() int64                            { return a.s.port.Load() }
func (a adminSource) Uptime() time.Duration                  { return a.s.clock() }
func (a adminSource) Connections() int64                     { return a.s.count.Load() }
func (a adminSource) ClientMemory() int64                    { return a.s.budget.InUse() }
func (a adminSource) Scripts() (n int, bytes, evicted int64) { return a.s.scripts.Kept() }
func (a adminSource) Functions() functions.Usage             { return a.s.scripts.functions.Usage() }

func (a adminSource) Tracking() (clients, keys, items, prefixes int) { return a.s.tracking.counts() }

func (a adminSource) Watching() (subscribed, watching, keys int) {
	for _, c := range a.s.snapshot() {
		watched := int(c.multi.watching.Load())
		subscribed, watching, keys = subscribed+int(admin.Bit(c.subs.Any())), watching+int(admin.Bit(watched > 0)), keys+watched
	}
	return subscribed, watching, keys
}

func (a adminSource) BlockingKeys() (keys, onDeletion int) {
	b := &a.s.blocked
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.keys {
		e := q.Front()
		for ; e != nil && e.Value.(*waiter).Gone == nil; e = e.Next() {
		}
		onDeletion += int(admin.Bit(e != nil))
	}
	return len(b.keys), onDeletion
}

func (a adminSource) Replicas() psync.Overview { return a.s.replicas.Overview() }

func (a adminSource) Topics() (channels, patterns, shards int) {
	p := &a.s.pubsub
	return p.TopicsOf(pubsub.Channel), p.TopicsOf(pubsub.Pattern), p.TopicsOf(pubsub.Shard)
}

func (a adminSource) Section(w *admin.Info, title string, x *command.Call) {
	switch title {
	case "Replication":
		infoReplication(w, a.s)
	case "Cluster":
		infoCluster(w, a.s)
	case "Keyspace":
		infoKeyspace(w, x.Host.(*call))
	case "Databases":
		infoDatabases(w, x.Host.(*call))
	case "Ring":
		infoRing(w, a.s)
	}
}

// PebbleIsOffHeap reports whether Pebble's block cache and memtables lie outside Go's heap.
func PebbleIsOffHeap() bool { return admin.PebbleIsOffHeap() }
