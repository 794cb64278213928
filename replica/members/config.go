package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uber-go/tally/v4"

	"github.com/ringside-kv/ringside/ring"
)

// DefaultPort is the gossip port of an address of [Config.Join] that names none.
const DefaultPort = 7379

// A Resolver looks host names up; [net.DefaultResolver] is one.
type Resolver interface {
	// LookupHost returns the addresses of a host, without ports. It must return
	// when the context ends.
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// Config is the identity of a node and how it finds the others.
type Config struct {
	// ID is the node's name, without / and #.
	ID string
	// Incarnation counts the node's starts; of two nodes with one ID the higher is
	// the node.
	Incarnation uint64

	// Cluster, Strategy and Hash must be the same on all nodes.
	Cluster, Strategy, Hash string
	// Key is the cluster key, of any length; empty: gossip is not encrypted. It must
	// be the same on all nodes.
	Key []byte
	// AcceptKey is another key that messages of other nodes may be encrypted with, while the key of all nodes is being
	// changed; empty: none. It needs Key, which this node encrypts with.
	AcceptKey []byte

	Role    Role    // default: store
	Weight  float64 // share of a store; a proxy's may be 0. No default
	Version string  // of the build

	// Generation is that of the cluster which the node is in; 0: none yet, see
	// [Members.SetGeneration].
	Generation uint64
	// Expect is with how many nodes, itself among them, this one waits to found a
	// cluster; 0: it does not.
	Expect int

	// BusAddr and ClientAddr are host:port as others reach them; an empty ClientAddr is none.
	BusAddr, ClientAddr string
	// BindAddr is the host:port to gossip on, TCP and UDP; port 0: a free one. No host
	// means all IPv4 interfaces.
	BindAddr string
	// Advertise is the host[:port] that others are told of BindAddr; empty: what is
	// bound, or a private address of this machine if that is every interface.
	Advertise string

	// Join are peers: host:port, or a host without a port for [DefaultPort]. A host
	// may be a name with several addresses, all of which are tried. Its own address
	// may be among them.
	Join []string
	// Dir is where the file of known peers is kept; empty: nowhere.
	Dir string

	// HasLeft reports whether a node is known to leave, or to have left, from another source than the gossip, where
	// this news can be missed. A node that has left is not logged as failed. nil: there is no other source.
	HasLeft func(id string) bool

	Timing   Timing       // zero: LAN
	Resolver Resolver     // default: the system's
	Network  Network      // default: the system's
	Logger   *slog.Logger // default: discarded
	Scope    tally.Scope  // default: no metrics
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Role == "" {
		c.Role = RoleStore
	}
	if c.Timing == (Timing{}) {
		c.Timing = LAN()
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Network == nil {
		c.Network = System{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Scope == nil {
		c.Scope = tally.NoopScope
	}
}

const (
	maxCluster = 64      // bytes of the longest name of a cluster
	maxExpect  = 1 << 14 // nodes
)

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := validateID(c.ID); err != nil {
		add(fmt.Errorf("members: %w", err))
	}
	switch c.Role {
	case RoleStore, RoleProxy, RoleWitness:
	default:
		add(fmt.Errorf("members: role %.40q: want %s, %s or %s", c.Role, RoleStore, RoleProxy, RoleWitness))
	}
	if err := validateWeight(c.Role, c.Weight); err != nil {
		add(fmt.Errorf("members: %w", err))
	}
	for _, f := range []struct{ name, text string }{{"cluster name", c.Cluster}, {"strategy", c.Strategy}, {"hash", c.Hash}} {
		switch {
		case f.text == "":
			add(fmt.Errorf("members: no %s", f.name))
		case len(f.text) > maxCluster:
			add(fmt.Errorf("members: %s %.20q… has %d bytes, %d are allowed", f.name, f.text, len(f.text), maxCluster))
		case !utf8.ValidString(f.text):
			add(fmt.Errorf("members: %s %q is not UTF-8", f.name, f.text))
		}
	}
	if c.Expect < 0 || c.Expect > maxExpect {
		add(fmt.Errorf("members: %d nodes to expect are not between 0 and %d", c.Expect, maxExpect))
	}
	add(validateHostPort("bus address", c.BusAddr, 1))
	add(validateClientAddr(c.ClientAddr))
	add(validateHostPort("gossip address", c.BindAddr, 0))
	if c.Advertise != "" {
		if _, _, err := splitHostPort(c.Advertise, 0); err != nil {
			add(fmt.Errorf("members: advertised address: %w", err))
		}
	} else if host, _, err := net.SplitHostPort(c.BindAddr); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() && !ip.Is4() {
			add(fmt.Errorf("members: gossip address %s is every interface: set the address to advertise", c.BindAddr))
		}
	}
	for _, peer := range c.Join {
		if _, _, err := splitHostPort(peer, DefaultPort); err != nil {
			add(fmt.Errorf("members: address to join: %w", err))
		}
	}
	add(c.tags().checkSize())
	add(c.Timing.validate())
	return errors.Join(errs...)
}

func (c *Config) tags() tags {
	return tags{
		protocol: protocol, oldest: oldestProtocol,
		cluster: c.Cluster, strategy: c.Strategy, hash: c.Hash,
		role: c.Role, weight: c.Weight, version: c.Version,
		busAddr: c.BusAddr, clientAddr: c.ClientAddr,
		generation: c.Generation, expect: uint64(max(c.Expect, 0)),
	}
}

func validateID(id string) error {
	if err := (ring.Member{ID: id, Weight: 1}).Validate(); err != nil {
		return err
	}
	if i := strings.IndexAny(id, "/"+lifeSeparator); i >= 0 {
		return fmt.Errorf("%w: %q contains %q, which gossip needs for itself", ring.ErrID, id, id[i])
	}
	return nil
}

// validateClientAddr accepts no address, too: the node then has only a Unix socket for clients.
func validateClientAddr(addr string) error {
	if addr == "" {
		return nil
	}
	return validateHostPort("client address", addr, 1)
}

func validateHostPort(name, addr string, least int) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("members: %s: %w", name, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < least || n > 65535 {
		return fmt.Errorf("members: %s %.300q: port is not a number from %d to 65535", name, addr, least)
	}
	if host == "" && least > 0 {
		return fmt.Errorf("members: %s %.300q has no host, which others need", name, addr)
	}
	return nil
}
