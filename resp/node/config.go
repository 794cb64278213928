package node

import (
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/unixsocket"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/environment"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Values of [Config.Strategy].
const (
	StrategyBuckets = strategy.Buckets // hashmask buckets, FNV-1a
	StrategyKetama  = strategy.Ketama  // the continuum of libketama, MD5
	StrategyVnode   = strategy.VNode   // virtual nodes, murmur3
)

// Values of [Config.Hash].
const (
	HashNative = strategy.Native // the strategy's own
	HashSlot   = strategy.Slot   // the Redis Cluster slot
)

// Values of [Config.Fsync].
const (
	FsyncAlways   = "always"   // fsync before the reply
	FsyncEverysec = "everysec" // handed to the operating system before the reply, fsync each second
	FsyncNo       = "no"       // fsync is left to the operating system
)

// Values of [Config.Role].
const (
	RoleStore = string(members.RoleStore) // holds data
	RoleProxy = string(members.RoleProxy) // routes, holds no data
	// RoleWitness takes part in agreeing on the placement, and is else a proxy: two stores
	// with a witness go on when one of the three is away.
	RoleWitness = string(members.RoleWitness)
)

// Values of [Config.Route].
const (
	RouteForward  = string(resp.RouteForward)  // any key is served, by forwarding
	RouteRedirect = string(resp.RouteRedirect) // MOVED for keys of other nodes
)

// HTTPOff as [Config.HTTPAddr] means that nothing is served over HTTP.
const HTTPOff = "off"

// A Config holds all settings of one node. Sizes are in bytes.
//
// Begin with [DefaultConfig] and change what shall differ: in some fields zero is
// a setting of its own, which [Config.EnsureDefaults] leaves alone. These are
// Backups, Cache, ProtectedMode, AuthTimeout, IdleTimeout, TCPKeepAlive, TrackedKeys, BusyAfter,
// SlowlogSlowerThan, SlowlogMaxLen, MaxData and MinFreeDisk.
type Config struct {
	// Addr is the host:port where clients connect. An empty host is every
	// interface; port 0 is a free one; "off" is none, for clients at UnixSocket and for [Node.Do] and
	// [Node.Dial].
	Addr string
	// UnixSocket is the path of a Unix socket for clients of this machine, empty for none;
	// UnixSocketMode has the permission bits of its file. TLS is not spoken there.
	UnixSocket     string
	UnixSocketMode fs.FileMode
	// Listeners for clients are open already, such as those of a service manager. With a TCP
	// listener among them, Addr becomes its address and is not listened on.
	Listeners []net.Listener
	// HTTPAddr is the host:port of metrics, health and profiles; "off" disables
	// them. Empty is the host of Addr and its port + 2000, or a free port if that
	// of Addr is 0.
	HTTPAddr string
	// HTTPAuth has all that is served there, but for health checks, demand a user with a password who may run
	// INFO, by HTTP's basic authentication.
	HTTPAuth bool
	// HTTPHosts are host names by which HTTP clients may call the node, beside the hosts of Addr, HTTPAddr and
	// Advertise, IP addresses, the machine's name, names without dots and reserved ones such as node.internal; "*"
	// accepts every name. Health checks may use any.
	HTTPHosts []string

	// BusAddr is the host:port where other nodes connect, GossipAddr where they
	// gossip. By default they are on the host of Addr, its port + 10000 and + 1000; on
	// 127.0.0.1 if nothing about a cluster is set and there is neither a ClusterKey nor a ClusterTLSCert. Beyond
	// loopback they need one of the two. Both "off": the node is alone for good, see [InProcessConfig].
	BusAddr, GossipAddr string
	// Advertise is the host, or the host:port for clients, that other nodes are told. The ports for
	// nodes are derived from that port. Empty is the listening address, or an address of this
	// machine if it listens on every interface.
	Advertise string
	// Join are gossip addresses of nodes whose cluster this one joins. Without any it founds a
	// cluster, unless its directory belongs to one.
	Join []string
	// BootstrapExpect is how many nodes, all started with the same number, found a
	// cluster once they have found each other; 0: none.
	BootstrapExpect int
	// Role is store, proxy or witness.
	Role string
	// Route is forward or redirect: what new connections get for keys of other nodes.
	Route string
	// Cluster is the name of the cluster; ClusterKey, if set, is the secret that every
	// node of it must prove. Without one, nodes on loopback prove RequirePass; a node with
	// TLSCert alone accepts only nodes that have the key in its directory.
	Cluster, ClusterKey string
	// ClusterKeyAccept is another ClusterKey that other nodes may prove, while that of all nodes is being changed; empty:
	// none.
	ClusterKeyAccept string
	// ClusterTLSCert, ClusterTLSKey and ClusterTLSCA are PEM files: with them, nodes connect to each other through TLS, and each
	// shows a certificate that an authority of ClusterTLSCA has signed. ClusterTLS is require, or prefer: nodes without are
	// accepted and dialled as well, and need the ClusterKey. Without a ClusterKey, gossip goes through TLS, too.
	// ClusterTLSName are patterns of names, with commas between them, of which each certificate must carry one; "" is any.
	ClusterTLSCert, ClusterTLSKey, ClusterTLSCA, ClusterTLS, ClusterTLSName string
	// Weight is the node's share of the data, relative to the others'.
	Weight float64
	// Zone names the nodes that may fail together with this one, as those of a data center; empty is none.
	Zone string

	// VNodes, Points, KetamaRule and Mask are settings of the strategies, by which a
	// cluster is founded. Zero is the cluster's, and for a new one strategy's default.
	VNodes, Points int
	KetamaRule     string
	Mask           string // hexadecimal
	// Cells are such settings, too: those of multiprobe, lrh and bounded.
	Cells cells.Settings
	// Pin are points of this node that are picked by hand (vnode): hashes with commas
	// between them, in the place of its own ones, or beside them if it begins with +.
	Pin string
	// LeaveTimeout bounds [Node.Leave] when the command stops the node by it; LeaveOnTerm makes
	// SIGTERM do so. Both are for the command.
	LeaveOnTerm  bool
	LeaveTimeout time.Duration

	env             environment.Environment
	keepsToLoopback bool // by default, and no setting asks for more
	// askedStrategy is Strategy as it was given. In a node, Strategy and Hash are those that its
	// cluster was founded with; see findPlacing.
	askedStrategy string

	// Dir holds the data; it is created if missing.
	Dir string
	// ID is the name of the node: letters, digits and . _ : -. Empty is the name that
	// the directory stores; a new directory gets one of the host name and an identity.
	// [Open] refuses another name than the directory's.
	ID string
	// Strategy is one of the names in package ring/strategy: that of a new cluster. Empty is that of
	// the cluster, or [StrategyBuckets] for a new one. A cluster refuses a node with another strategy
	// than the one that it has now, or had when it was founded.
	Strategy string
	// Hash is one of the hashes in package ring/strategy, and never changes in a cluster. Empty is
	// that of the cluster, or [HashNative] for a new one.
	Hash string
	// Fsync is always, everysec or no.
	Fsync string

	// Memory is how much the process may use, in bytes; 0 is the limit of its cgroup, or 3/4
	// of the machine's memory. It is for the command, which passes it to FitMemory; Open does
	// not read it.
	Memory       int64
	Cache        int64 // hot values in memory, outside Go's heap; 0 is off
	BlockCache   int64 // Pebble's cache of table blocks
	MemTableSize int64 // one memtable of Pebble; a few exist at a time
	MinFreeDisk  int64 // writes are refused while less is free; 0 is off
	// MaxData is how many bytes of data the node may hold as a primary; 0: no limit. MaxDataPolicy is
	// which keys are evicted then: one of Redis' maxmemory policies.
	MaxData       int64
	MaxDataPolicy string

	RequirePass string // password that AUTH must give; empty: none
	ACLFile     string // users, in the format of Redis' aclfile; empty: none
	AuditLog    string // file of the audit log, or "stderr"; empty: none
	TLSCert     string // PEM file; with TLSKey, clients connect through TLS
	TLSKey      string // PEM file
	TLSCA       string // PEM file; demands client certificates signed by it
	TLSUser     string // what of a client's certificate is its user: "cn", "uri", or "off"
	// Debug says which clients may send DEBUG: "yes" is all, "local" those of this host, "no"
	// none.
	Debug string
	// ProtectedMode refuses clients of other hosts as long as there is neither a
	// password nor TLS.
	ProtectedMode bool

	MaxClients   int   // connections at a time
	MaxKeySize   int64 // longest key
	MaxValueSize int64 // longest string, and longest single argument
	MaxArgs      int   // most arguments of one command
	PackedSize   int64 // collections of up to so many bytes lie in one entry
	SparseSize   int64 // a HyperLogLog of up to so many bytes is sparse
	OutputBuffer int64 // replies that one client may leave unread
	ClientMemory int64 // requests and replies in flight, of all clients together
	ScriptMemory int64 // what one script may take

	AuthTimeout  time.Duration // a client has so long to authenticate, where it must; 0: for ever
	IdleTimeout  time.Duration // silence after which a client is closed; 0: never
	TCPKeepAlive time.Duration // between probes of a silent peer; 0 is off
	StopTimeout  time.Duration // running commands get so long to finish on stop

	TrackedKeys int           // reads of tracking clients that are remembered; 0: any number
	BusyAfter   time.Duration // after that time, commands on a script's keys get BUSY; 0: never
	StrictBusy  bool          // then all clients get it, whatever they need, as from Redis

	SlowlogSlowerThan time.Duration // commands that took longer are logged; negative is off
	SlowlogMaxLen     int           // entries that SLOWLOG keeps
	// OTLPEndpoint is the URL of an OpenTelemetry collector, OTLP over HTTP, or its host:port; empty: none. OTLPSample
	// is the share of requests that it gets traces of, from 0 to 1.
	OTLPEndpoint string
	OTLPSample   float64

	// StrictSlots refuses commands on several keys that would fail on a cluster where
	// these lie at several nodes, on one node as well.
	StrictSlots bool
	// Databases is how many numbered databases a cluster has that this node founds; see RING DATABASES.
	Databases int
	// Together are numbers of databases that are kept together if this node founds a cluster; see
	// RING DATABASE.
	Together []string
	// Backups is how many copies beside the primary a cluster keeps that this node founds.
	// RING BACKUPS changes it.
	Backups int
	// RecreateAfter is how long a range may have no copy before it is created again, empty; 0:
	// never.
	RecreateAfter time.Duration
	// RereplicateAfter is how long a node may be away before others get its places.
	RereplicateAfter time.Duration
	// ForwardTimeout is how long a request waits for other nodes at most.
	ForwardTimeout time.Duration
	// MinInSync is how many nodes, the primary included, must have a range in sync for
	// writes to be taken.
	MinInSync int
	// ScrubInterval is in how much time a node compares all that it serves with its
	// backups; 0: only by RING SCRUB.
	ScrubInterval time.Duration

	// KeyEvents are the key events that this node wants published, as the letters of notify-keyspace-events.
	KeyEvents string
	// RedisConfig are parameters of Redis without a setting of their own, as lines of redis.conf.
	RedisConfig string
	// ConfigFile is the file that the settings came from, and Rewrite is CONFIG REWRITE: see [resp.Config].
	ConfigFile string
	Rewrite    func(values, initial map[string]string) error

	Logger *slog.Logger // nil: discarded
	Scope  tally.Scope  // nil: a private one, seen at /metrics only
	// Version is what INFO and the logs call this build.
	Version string
}

// DefaultConfig returns the default settings. HTTPAddr and ID are empty, since they depend on
// others.
func DefaultConfig() Config {
	return Config{
		Addr:              "127.0.0.1:6379",
		UnixSocketMode:    unixsocket.DefaultMode,
		Cluster:           "ringside",
		Role:              RoleStore,
		Route:             RouteForward,
		Backups:           1,
		Databases:         database.Default,
		RereplicateAfter:  30 * time.Second,
		ForwardTimeout:    10 * time.Second,
		MinInSync:         1,
		ScrubInterval:     24 * time.Hour,
		LeaveTimeout:      10 * time.Minute,
		Weight:            1,
		Dir:               "./ringside-data",
		Fsync:             FsyncEverysec,
		Cache:             256 * mib,
		BlockCache:        128 * mib,
		MemTableSize:      16 * mib,
		MinFreeDisk:       256 * mib,
		MaxDataPolicy:     "noeviction",
		ProtectedMode:     true,
		Debug:             "no",
		TLSUser:           certs.NoUser,
		ClusterTLS:        certs.Require,
		MaxClients:        10000,
		MaxKeySize:        64 * kib,
		MaxValueSize:      512 * mib,
		PackedSize:        1 * kib,
		SparseSize:        3000,
		MaxArgs:           1 << 20,
		OutputBuffer:      64 * mib,
		ClientMemory:      256 * mib,
		ScriptMemory:      64 * mib,
		TCPKeepAlive:      300 * time.Second,
		StopTimeout:       10 * time.Second,
		TrackedKeys:       1_000_000,
		BusyAfter:         5 * time.Second,
		AuthTimeout:       time.Minute,
		SlowlogSlowerThan: 10 * time.Millisecond,
		SlowlogMaxLen:     128,
		OTLPSample:        0.001,
	}
}

// EnsureDefaults gives every field that may not be zero its default and resolves
// HTTPAddr, unless the port that follows from Addr does not exist (which
// [Config.Validate] reports). It is idempotent; [Open] calls it.
func (c *Config) EnsureDefaults() {
	d := DefaultConfig()
	if i := slices.IndexFunc(c.Listeners, isTCP); i >= 0 {
		c.Addr = c.Listeners[i].Addr().String()
	}
	ensure(&c.Addr, d.Addr)
	ensure(&c.UnixSocketMode, d.UnixSocketMode)
	ensure(&c.Cluster, d.Cluster)
	ensure(&c.Weight, d.Weight)
	ensure(&c.Role, d.Role)
	ensure(&c.Route, d.Route)
	ensure(&c.Debug, d.Debug)
	ensure(&c.TLSUser, d.TLSUser)
	ensure(&c.ClusterTLS, d.ClusterTLS)
	ensure(&c.MaxDataPolicy, d.MaxDataPolicy)
	ensure(&c.RereplicateAfter, d.RereplicateAfter)
	ensure(&c.ForwardTimeout, d.ForwardTimeout)
	ensure(&c.Databases, d.Databases)
	ensure(&c.MinInSync, d.MinInSync)
	ensure(&c.LeaveTimeout, d.LeaveTimeout)
	ensure(&c.Dir, d.Dir)
	ensure(&c.Fsync, d.Fsync)
	ensure(&c.BlockCache, d.BlockCache)
	ensure(&c.MemTableSize, d.MemTableSize)
	ensure(&c.MaxClients, d.MaxClients)
	ensure(&c.MaxKeySize, d.MaxKeySize)
	ensure(&c.MaxValueSize, d.MaxValueSize)
	ensure(&c.MaxArgs, d.MaxArgs)
	ensure(&c.PackedSize, d.PackedSize)
	ensure(&c.SparseSize, d.SparseSize)
	ensure(&c.OutputBuffer, d.OutputBuffer)
	ensure(&c.ClientMemory, d.ClientMemory)
	ensure(&c.ScriptMemory, d.ScriptMemory)
	ensure(&c.StopTimeout, d.StopTimeout)
	if c.HTTPAddr == "" {
		if addr, err := derivedAddr(c.baseAddr(), httpPortOffset); err == nil {
			c.HTTPAddr = addr
		}
	}
	c.deriveBetweenNodes()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func ensure[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func init() {
	environment.Of = func(config any) *environment.Environment { return &config.(*Config).env }
}
