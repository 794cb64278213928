package environment

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/nonetwork"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Environment is what lies under a node. Its zero value is that of a node in production. It is
// not changed once the node is open.
type Environment struct {
	Network  members.Network      // nil: the system's
	Offline  bool                 // there is no network to other nodes
	Conns    *ConnSet             // over the network; Open of the node sets it
	Local    *memconn.Listener    // for clients within the process; likewise
	Store    func(*store.Config)  // nil: as it is
	Now      func() time.Duration // nil: the system's clock
	Date     func() time.Time     // nil: the system's, which may be set
	Steps    func(step.Step)      // nil: no callback
	Host     func() string        // nil: the system's name
	Table    table.Hooks          // under the table of the cluster
	Timing   members.Timing       // of gossip; zero: that of a local network
	Tune     Tune                 // of what moves data and of the table
	Versions bus.Versions         // of the bus protocol; zero: all that this build speaks
	OldForms bool                 // a cluster that the node founds does not agree on the latest forms of data
}

// Tune changes the intervals of a node; nil: as they are.
type Tune struct {
	Engine func(*replica.Config)
	Table  func(*table.Config)
	Enter  time.Duration // between two attempts to enter a cluster; 0: as it is
}

// OfEngine returns the settings of the engine, as they are to be here.
func (t *Tune) OfEngine(c replica.Config) replica.Config {
	if t.Engine != nil {
		t.Engine(&c)
	}
	return c
}

// OfTable returns the settings of the table, as they are to be here.
func (t *Tune) OfTable(c table.Config) table.Config {
	if t.Table != nil {
		t.Table(&c)
	}
	return c
}

// Of returns the environment within a *node.Config. Package node sets it when the program starts.
var Of func(config any) *Environment

// HostName returns the name of the host; empty if it has none.
func (e *Environment) HostName() string {
	if e.Host != nil {
		return e.Host()
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}

// Listen listens for streams, until Conns is closed.
func (e *Environment) Listen(addr string) (net.Listener, error) {
	return e.Conns.Listen(func(addr string) (net.Listener, error) {
		if e.Network != nil {
			return e.Network.Listen(addr)
		}
		return net.Listen("tcp", addr)
	}, addr)
}

// Clocks go on while the machine is suspended: that by which a node counts the leases of
// others, and that by which it counts its own.
func (e *Environment) Clocks() (clock, own func() time.Duration) {
	if e.Now != nil {
		return e.Now, e.Now
	}
	return machine.Clocks()
}

// Wall is the clock that may be set.
func (e *Environment) Wall() time.Time {
	if e.Date != nil {
		return e.Date()
	}
	return time.Now()
}

// Bus is the network of the bus.
func (e *Environment) Bus() bus.Network {
	switch {
	case e.Offline:
		return trackedBus{e.Conns, nonetwork.Network{}}
	case e.Network == nil:
		return trackedBus{e.Conns, bus.System{}}
	}
	return trackedBus{e.Conns, e.Network}
}

// Dialer connects to what is no node; nil stands for the system's network.
func (e *Environment) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if e.Network == nil {
		return nil
	}
	return func(ctx context.Context, _, addr string) (net.Conn, error) { return e.Network.Dial(ctx, addr) }
}

// Gossip is the network of gossip.
func (e *Environment) Gossip() members.Network {
	switch {
	case e.Offline:
		return trackedMembers{e.Conns, nonetwork.Network{}}
	case e.Network == nil:
		return trackedMembers{e.Conns, members.System{}}
	}
	return trackedMembers{e.Conns, e.Network}
}

// OpenStore opens the store of a node.
func (e *Environment) OpenStore(cfg store.Config) (*store.Store, error) {
	cfg.ExpireFields = collection.ExpireFields
	if e.Store != nil {
		e.Store(&cfg)
	}
	return store.Open(cfg)
}

// Reached reports a step of the node to a test.
func (e *Environment) Reached(s step.Step) {
	if e.Steps != nil {
		e.Steps(s)
	}
}
