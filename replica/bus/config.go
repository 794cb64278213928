package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/uber-go/tally/v4"
)

// Limits of the handshake.
const (
	maxName = 255     // bytes of each string in a hello, whose length is one byte
	minKey  = 16      // bytes of a cluster key
	maxKey  = 4 << 10 // bytes
)

// Config is the identity of this node and the address at which it listens.
type Config struct {
	// ID is the node's name, unique in the cluster; Incarnation counts its starts.
	ID          string
	Incarnation uint64
	// Cluster, Strategy and Hash must be the same on both sides.
	Cluster, Strategy, Hash string
	// Generation returns the generation of the cluster that this node means when it
	// talks for a purpose; 0 is none, which goes with any, but for Raft. It is called
	// once in each handshake, from any goroutine, and must not block. Nil stands for 0.
	Generation func(Purpose) uint64
	// Key is the cluster key; empty for none. Nodes with a key refuse those
	// without. It is not stretched: make it hard to guess.
	Key []byte
	// AcceptKey is another key that a peer which dials may prove, while the key of all nodes is being changed; empty for
	// none. It needs Key, which this node proves when it dials.
	AcceptKey []byte
	// TLS, if set, has connections secured by certificates; nil for none. With a Key as well, peers prove both.
	TLS *TLS
	// Admit returns an error while no peer may shake hands with this node; peers are told
	// its text. It is called once in each handshake, from any goroutine, and must not
	// block. Nil admits all.
	Admit func() error
	// Versions of the bus protocol that the node speaks; default: all that this build does.
	// Tests narrow them.
	Versions Versions
	// Needs returns the oldest version that a peer may speak, given what the cluster uses. It
	// is called once in each handshake, from any goroutine, and must not block. Nil stands for 0.
	Needs func() uint16
	// Listen is the TCP address to listen on; port 0 takes any that is free.
	Listen string
	// Network is where to listen and dial; default: the system's TCP.
	Network Network
	// HandshakeTimeout is how long a handshake may take; default 5 s.
	HandshakeTimeout time.Duration
	// Met is called for each peer that has shaken hands, on either side, before the connection
	// is used. It may be called from any goroutine, and must not block. It may be nil.
	Met func(Peer)
	// MaxHandshakes is how many accepted connections may be in their handshake at
	// a time; default 128. One more closes the oldest.
	MaxHandshakes int
	Logger        *slog.Logger
	Scope         tally.Scope
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Network == nil {
		c.Network = System{}
	}
	if c.Generation == nil {
		c.Generation = func(Purpose) uint64 { return 0 }
	}
	if c.Admit == nil {
		c.Admit = func() error { return nil }
	}
	if c.Met == nil {
		c.Met = func(Peer) {}
	}
	if c.Versions == (Versions{}) {
		c.Versions = Versions{oldestVersion, newestVersion}
	}
	if c.HandshakeTimeout == 0 {
		c.HandshakeTimeout = 5 * time.Second
	}
	if c.MaxHandshakes == 0 {
		c.MaxHandshakes = 128
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Scope == nil {
		c.Scope = tally.NoopScope
	}
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var errs []error
	for _, s := range []struct{ name, value string }{
		{"node id", c.ID}, {"cluster", c.Cluster}, {"strategy", c.Strategy}, {"hash", c.Hash},
	} {
		if s.value == "" || len(s.value) > maxName {
			errs = append(errs, fmt.Errorf("bus: %s of %d bytes is not between 1 and %d long", s.name, len(s.value), maxName))
		}
	}
	if n := len(c.Key); n != 0 && (n < minKey || n > maxKey) {
		errs = append(errs, fmt.Errorf("bus: cluster key of %d bytes is not between %d and %d long", n, minKey, maxKey))
	}
	if n := len(c.AcceptKey); n != 0 && (n < minKey || n > maxKey || len(c.Key) == 0) {
		errs = append(errs, fmt.Errorf("bus: accepted cluster key of %d bytes is not between %d and %d long, or there is no cluster key", n, minKey, maxKey))
	}
	if c.TLS != nil && (c.TLS.Client == nil || c.TLS.Server == nil) {
		errs = append(errs, errors.New("bus: TLS without the configuration of both sides"))
	}
	if c.Listen == "" {
		errs = append(errs, errors.New("bus: no address to listen on"))
	}
	if v := c.Versions; v.Oldest < unrangedVersion || v.Newest < v.Oldest {
		errs = append(errs, fmt.Errorf("bus: %s is not a range of versions from %d on", v, unrangedVersion))
	}
	if c.HandshakeTimeout < 0 {
		errs = append(errs, fmt.Errorf("bus: handshake time-out %s is negative", c.HandshakeTimeout))
	}
	if c.MaxHandshakes < 0 {
		errs = append(errs, fmt.Errorf("bus: %d concurrent handshakes are fewer than none", c.MaxHandshakes))
	}
	return errors.Join(errs...)
}
