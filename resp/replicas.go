package resp

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Replicas of Redis and Valkey (package psync), and the server that the cluster is a replica of (package replicaof), as the
// server and its commands use them.

func newReplicas(s *Server) *psync.Server {
	ready := s.cfg.TellsChanges
	if ready == nil {
		ready = func(context.Context) error { return nil }
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(s.admin.Config.Find([]byte(name)).Get(), 10, 64)
		return n
	}
	seconds := func(name string) time.Duration { return time.Duration(number(name)) * time.Second }
	return psync.New(psync.Config{
		Dial: s.dialSelf, Follow: s.keyEvents.Follow, Ready: ready, Policies: s.policies, Databases: s.cfg.Databases,
		Functions: s.scripts.functions.Version, Logger: s.log,
		Settings: func() psync.Settings {
			hard, soft, softTime := s.settings.ReplicaLimit()
			return psync.Settings{
				Version: int(s.settings.DumpVersion.Load()), Backlog: number("repl-backlog-size"), BacklogTTL: seconds("repl-backlog-ttl"),
				PingPeriod: seconds("repl-ping-replica-period"), Timeout: seconds("repl-timeout"),
				Limit: hard, SoftLimit: soft, SoftTime: softTime,
			}
		},
	})
}

// An ownConn is a connection of this server to itself, which may do everything; a copy only while its agreed value lasts.
type ownConn struct {
	*memconn.Conn
	copies uint64 // the version of that value; 0: it is no copy
}

// dialSelf connects to this server without a socket.
func (s *Server) dialSelf() (net.Conn, error) { return dialCopying(s, 0) }

func dialCopying(s *Server, version uint64) (net.Conn, error) {
	near, far := memconn.Pipe()
	if !s.open(ownConn{far, version}) {
		return nil, ErrServerClosed
	}
	return near, nil
}

// newFollower returns what copies from the server that REPLICAOF names.
func newFollower(s *Server) *replicaof.Follower {
	setting := func(name string) string { return s.admin.Config.Find([]byte(name)).Get() }
	cfg := replicaof.Config{
		Node: s.cfg.NodeID, Dir: s.cfg.Dir, Logger: s.log,
		Dial:   func(version uint64) (net.Conn, error) { return dialCopying(s, version) },
		Login:  func() (user, password string) { return setting("masteruser"), setting("masterauth") },
		Settle: func(ctx context.Context, version uint64) error { return settle(ctx, s, version) },
	}
	if operator := s.cfg.Operator; operator != nil {
		cfg.Agree = func(ctx context.Context, c agreed.Change) error {
			if _, err := operator.Agree(ctx, []agreed.Change{c}); err != nil {
				return err
			}
			for routes := s.routes.Load(); routes != nil; routes = s.routes.Load() {
				if v := routes.Values.Of(c.Name); v.Version != c.Was {
					s.users.Await(ctx, v.Version) // it is kept for the next start then
					confirmUsers(s, v.Version)
					break
				}
				select {
				case <-routes.next:
				case <-ctx.Done():
					return fmt.Errorf("%w: this node does not go by the change yet", agreed.ErrUnknown)
				}
			}
			return nil
		}
	}
	return replicaof.New(cfg)
}

// settle implements replicaof.Config.Settle.
//
// Once each node knows of the value, none lets a write through any more: a connection looks up what its client may do
// after it has entered a unit, and SetRoutes tells the users before the routes. What was let through before runs in units
// by earlier routes, for which awaitDrained waits, or is on its way to another node, which refuses it when the forward timeout is
// over. So after that time, and when no node runs an earlier unit then, nothing is left.
func settle(ctx context.Context, s *Server, version uint64) error {
	question := wire.SubRequest("RING", "DRAINED", []byte("0"), strconv.AppendUint(nil, version, 10))
	for again := false; ; again = true {
		if _, err := awaitDrained(ctx, s, -1, version, nil); err != nil {
			return fmt.Errorf("this node still runs requests of clients: %w", err)
		}
		routes := s.routes.Load()
		if routes == nil {
			return ErrNotSent // at the start: tried again soon
		}
		if missing, err := tellPeers(routes.peers, question, drainTimeout); err != nil {
			return fmt.Errorf("node %s may still run requests of clients: %w", missing[0].ID, err)
		}
		if again || len(routes.peers) == 0 {
			return nil
		}
		select {
		case <-time.After(s.forwardTimeout()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func cmdReplconf(x *call) {
	if msg := x.conn.session.conf.Set(x.Args); msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

// cmdPsync serves a replica until its connection ends; by SYNC, one that knows nothing of PSYNC, as redis-cli --rdb.
func cmdPsync(x *call) {
	c := x.conn
	id, offset := "", int64(-1)
	if len(x.Args) > 2 {
		id = cmp.Or(string(x.Args[1]), "?")
		if n, ok := wire.ParseInt(x.Args[2]); ok {
			offset = n
		}
	}
	if c.from != nil || c.subscribed || c.session.replies != replyOn {
		x.Error("ERR PSYNC and SYNC are not possible on this connection")
		return
	}
	began := x.srv.clock()
	c.session.replica.Store(true)
	msg := x.srv.replicas.Serve(&psync.Link{
		Conn: c.net, Rest: c.in[c.start:c.end], Conf: &c.session.conf, Close: func() { c.close() }, Sent: c.sent,
		Heard: func(n int) {
			c.session.bytesIn.Add(int64(n))
			c.session.lastUsed.Store(int64(x.srv.clock()))
		},
	}, id, offset)
	x.waited += x.srv.clock() - began
	if msg != "" {
		c.session.replica.Store(false)
		x.Error(msg)
		return
	}
	c.closing = true
}

func infoReplication(w *admin.Info, s *Server) {
	followed := s.follower.Status()
	at := make([]string, 0)
	for _, b := range s.backups() {
		at = append(at, b.Addr)
	}
	good := -1
	if s.MinInSync() > 1 {
		good = 0
		if routes := s.routes.Load(); routes != nil {
			good = routes.fewest - 1
		}
	}
	w.Replication(&followed, at, good, s.replicas.Overview(), s.runID)
}
