package psync

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/keyevents"
)

// Config is what a Server needs of the node.
type Config struct {
	// Dial connects to this node as a client that may do everything.
	Dial func() (net.Conn, error)
	// Follow has a follower told of all keys that change from its return on; nil ends that.
	Follow func(keyevents.Follower)
	// Ready returns why some node of the cluster cannot tell of all changes, or nil.
	Ready func(context.Context) error
	// Policies returns those of the databases, and Databases how many there are.
	Policies  func() *database.Policies
	Databases func() int
	// Functions returns the version of the libraries of functions.
	Functions func() uint64
	Settings  func() Settings
	Logger    *slog.Logger
}

// Settings may change from call to call.
type Settings struct {
	// Version is the RDB version of payloads: that of dump-rdb-version.
	Version int
	// Backlog is how many bytes of the stream are kept for replicas that come back.
	Backlog int64
	// BacklogTTL is for how long a history goes on without a replica; 0: for ever.
	BacklogTTL time.Duration
	// PingPeriod is how often the stream has a PING.
	PingPeriod time.Duration
	// Timeout is how long a replica may be silent.
	Timeout time.Duration
	// Limit is how many bytes may wait for one replica; 0: any number. SoftLimit may be exceeded for SoftTime.
	Limit, SoftLimit int64
	SoftTime         time.Duration
}

const (
	defaultVersion  = 10 // of Redis 7.0
	functionVersion = 10 // the first one with functions
	valkeyVersion   = 80
	valkeyFile      = 11 // what Valkey reads of Redis
	oldestVersion   = 9
	newestVersion   = 14
)

// versions returns the RDB versions of payloads and of files.
func (s *Settings) versions() (payload, file int) {
	switch v := s.Version; {
	case v == 0:
		return defaultVersion, defaultVersion
	case v == valkeyVersion:
		return valkeyVersion, valkeyFile
	default:
		v = min(max(v, oldestVersion), newestVersion)
		return v, v
	}
}
