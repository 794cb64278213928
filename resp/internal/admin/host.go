package admin

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/internal/stats"
	"github.com/ringside-kv/ringside/store"
)

// A Server is what the commands show and change of the server. Its fields are set once, before the
// first command.
type Server struct {
	Store    *store.Store
	Users    *acl.Registry
	Log      *slog.Logger
	Table    *command.Table
	Stats    *stats.Stats
	Settings *settings.Running
	Quota    *quota.Quota
	Config   settings.Table
	Source   Source
	Follower *replicaof.Follower
	Shutdown func() // must not wait for the server to close
	// Rewrite keeps the values of settings, by the names of flags; nil if they are in no file. initial has
	// those of the start.
	Rewrite func(values, initial map[string]string) error
	Initial map[string]string

	Version, NodeID, RunID, ConfigFile, Zone string

	Slowlog  Slowlog
	stopping atomic.Bool  // SHUTDOWN was accepted
	peak     atomic.Int64 // most memory that NoteMemory was told
}

// NoteMemory notes how much memory is in use, for the peak that INFO shows.
func (s *Server) NoteMemory(bytes int64) { s.peak.Store(max(s.peak.Load(), bytes)) }

// A Source tells what changes from call to call. Its methods are called from any goroutine.
type Source interface {
	Mode() string     // as HELLO and INFO call it: "standalone" or "cluster"
	Strategy() string // in force
	Port() int64
	Uptime() time.Duration
	Connections() int64
	Tracking() (clients, keys, items, prefixes int)
	// Watching returns how many connections have subscriptions, how many watch keys, and how many keys they watch.
	Watching() (subscribed, watching, keys int)
	// BlockingKeys returns for how many keys of this node commands wait, and for how many of these such that end
	// when the key is deleted.
	BlockingKeys() (keys, onDeletion int)
	ClientMemory() int64                    // bytes of requests and replies in flight
	Scripts() (n int, bytes, evicted int64) // of EVAL; evicted: ever
	Functions() functions.Usage
	Topics() (channels, patterns, shards int)
	Replicas() psync.Overview
	// Section writes a section of INFO that only the server can write: Replication, Cluster,
	// Keyspace, Databases or Ring. The call is INFO's.
	Section(w *Info, title string, x *command.Call)
}

// A Client is the one that sent the command.
type Client interface {
	ID() int64
	Addr() string
	Name() string // by CLIENT SETNAME
	User() string
	Describe() string // as CLIENT INFO does
	// ChangeUsers runs a change of users that the client has ordered, as long as that may take. The client gets its
	// reply, also if its own user goes.
	ChangeUsers(change func(ctx context.Context) error) error
	Wait(d time.Duration) // keeps the client waiting, at most until the server closes
	IsNode() bool         // another node has sent the command
	// TellNodes sends a command to all other nodes that seem to be there, and returns how many there are and how
	// many have carried it out. It sends nothing for what another node has sent, nor for a client that is
	// redirected: that one sends commands to each node itself.
	TellNodes(words ...[]byte) (nodes, done int)
}

// A Host runs the commands of this package: the server's [command.Host] has to be one.
type Host interface {
	Admin() (*Server, Client)
}

// A call is a Call with the server that it is about.
type call struct {
	*command.Call
	srv    *Server
	client Client
}

// on is the handler of a command that shows or changes the server.
func on(run func(*call)) func(*command.Call) {
	return func(x *command.Call) {
		srv, client := x.Host.(Host).Admin()
		run(&call{x, srv, client})
	}
}
