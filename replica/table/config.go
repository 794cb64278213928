package table

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

// A StreamLayer is how the Raft groups of the nodes reach each other: a listener, and
// a way to dial the same of another node at an address that [Config.Address] gave.
// Both ends have proved their identity before a connection is handed over. A connection that is
// a [StartConn] brings nothing more once a later start of the node at its other end is known.
type StreamLayer interface {
	net.Listener // whose Close also ends Dial, and the connections that were dialed
	Dial(address string, timeout time.Duration) (net.Conn, error)
}

// Config is what a [Table] needs. The functions may be called from any goroutine, and
// those with a context may block until it ends.
type Config struct {
	// ID is the name of the node.
	ID string
	// Dir holds the Raft log, its snapshots and the node's id in the group. It belongs to the table alone. Empty keeps
	// all in memory, so that a restart is a new server: for tests.
	Dir string
	// Abstains reports that the directory is a copy of one whose node was not stopped, and may
	// run. The server takes no part in a group of several voters before its [Register] is
	// decided; see start_registry.go.
	Abstains bool
	// Transport carries Raft; it is closed with the table.
	Transport StreamLayer
	// Address says where a node's StreamLayer is now.
	Address func(node string) (string, error)
	// Forward takes a message to [Table.HandleForward] of another node and returns its reply. An error that wraps
	// ErrUnsent says that the other side has certainly not seen the message.
	Forward func(ctx context.Context, node string, message []byte) ([]byte, error)
	// Peers lists nodes that seem to be there: they are asked for the leader while
	// none is known, as by a node that joins. May be nil.
	Peers func() []string
	// Stalled is called, once, when the disk with the log has not answered for
	// EndTimeout and that of another voter works: then the process should end. May be nil.
	Stalled func()
	// Applied is called after each command that the table has taken, in their order, with the time at which the leader
	// appended it, also for those of an earlier start that are in the log. It must not block. May be nil.
	Applied func(at time.Time, c Command, before, after *State)
	Logger  *slog.Logger // nothing is logged if it is nil

	// HeartbeatTimeout is how long a follower waits for its leader before it proposes itself, 500 ms; up to twice that.
	HeartbeatTimeout time.Duration
	// ElectionTimeout is how long a candidate waits for votes, 500 ms.
	ElectionTimeout time.Duration
	// LeaderLease is how long a leader goes on without word from a majority, 250 ms.
	LeaderLease time.Duration
	// CommitTimeout is how often a follower hears of what was decided whether or not anything was, 50 ms; up to twice
	// that, by chance. What is decided it hears at once, but that may get lost.
	CommitTimeout time.Duration
	// UpkeepInterval is how often the leader checks the voters, 500 ms.
	UpkeepInterval time.Duration
	// ReplaceAfter is how long a voter may be out of reach before another node gets its vote, 10 s.
	ReplaceAfter time.Duration
	// StallTimeout is how long a write to the log may take until the disk counts as stalled, 2 s: then another voter is to lead.
	StallTimeout time.Duration
	// EndTimeout is how long a disk may be stalled until Stalled is called, 2 min.
	EndTimeout time.Duration
	// SnapshotEntries is how many entries the log grows by before it is replaced by a
	// snapshot, 8192. As many are kept beside it for followers that lag.
	SnapshotEntries uint64

	// Hooks is for tests.
	Hooks Hooks

	// transport takes the place of Transport in tests.
	transport raft.Transport
}

// ErrUnsent is for the errors of [Config.Forward].
var ErrUnsent = errors.New("not sent")

// EnsureDefaults fills in what was left zero and has a default.
func (c *Config) EnsureDefaults() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.HeartbeatTimeout, 500 * time.Millisecond},
		{&c.ElectionTimeout, 500 * time.Millisecond},
		{&c.LeaderLease, 250 * time.Millisecond},
		{&c.CommitTimeout, 50 * time.Millisecond},
		{&c.UpkeepInterval, 500 * time.Millisecond},
		{&c.ReplaceAfter, 10 * time.Second},
		{&c.StallTimeout, 2 * time.Second},
		{&c.EndTimeout, 2 * time.Minute},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.SnapshotEntries == 0 {
		c.SnapshotEntries = 8192
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Peers == nil {
		c.Peers = func() []string { return nil }
	}
	if c.Stalled == nil {
		c.Stalled = func() {}
	}
}

// Validate joins every fault of a configuration whose defaults are filled in.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	if c.ID == "" {
		fault("no node id")
	}
	if c.transport == nil && c.Transport == nil {
		fault("no transport")
	}
	if c.transport == nil && c.Address == nil {
		fault("no way to find addresses")
	}
	if c.Forward == nil {
		fault("no way to forward")
	}
	const least = 5 * time.Millisecond // as the library has it
	for name, d := range map[string]time.Duration{
		"heartbeat timeout": c.HeartbeatTimeout, "election timeout": c.ElectionTimeout, "leader lease": c.LeaderLease,
		"commit timeout": c.CommitTimeout, "upkeep interval": c.UpkeepInterval, "replace after": c.ReplaceAfter, "stall timeout": c.StallTimeout, "end timeout": c.EndTimeout,
	} {
		if d < least {
			fault("%s: %v is under %v", name, d, least)
		}
	}
	if c.LeaderLease > c.HeartbeatTimeout {
		fault("the leader lease, %v, is longer than the heartbeat timeout, %v", c.LeaderLease, c.HeartbeatTimeout)
	}
	if c.ElectionTimeout < c.HeartbeatTimeout {
		fault("the election timeout, %v, is shorter than the heartbeat timeout, %v", c.ElectionTimeout, c.HeartbeatTimeout)
	}
	return errors.Join(faults...)
}

func (c *Config) raft(server string) *raft.Config {
	rc := raft.DefaultConfig()
	rc.LocalID = raft.ServerID(server)
	rc.HeartbeatTimeout = c.HeartbeatTimeout
	rc.ElectionTimeout = c.ElectionTimeout
	rc.LeaderLeaseTimeout = c.LeaderLease
	rc.CommitTimeout = c.CommitTimeout
	rc.SnapshotThreshold = c.SnapshotEntries
	rc.TrailingLogs = c.SnapshotEntries
	rc.ShutdownOnRemove = false // the table stays readable
	rc.NoLegacyTelemetry = true
	rc.Logger = newLogger(c.Logger)
	return rc
}
