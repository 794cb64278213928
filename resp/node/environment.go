package node

import (
	"net"
	"os"
	"time"

	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// environment is what lies under a node: the system's network and files, unless a test has put
// others there.
type environment struct {
	network members.Network      // nil: the system's
	conns   *connSet             // over the network; Open sets it
	store   func(*store.Config)  // nil: as it is
	now     func() time.Duration // nil: the system's clock
	date    func() time.Time     // nil: the system's, which may be set
	steps   func(step.Step)      // nil: no callback
	host    func() string        // nil: the system's name
	table   table.Hooks          // under the table of the cluster
	// versions of the bus protocol; zero: all that this build speaks.
	versions bus.Versions
}

// hostName returns the name of the host; empty if it has none.
func (e environment) hostName() string {
	if e.host != nil {
		return e.host()
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}

func (e environment) listen(addr string) (net.Listener, error) {
	return e.conns.listen(func(addr string) (net.Listener, error) {
		if e.network != nil {
			return e.network.Listen(addr)
		}
		return net.Listen("tcp", addr)
	}, addr)
}

// clocks go on while the machine is suspended: that by which a node counts the leases of
// others, and that by which it counts its own.
func (e environment) clocks() (clock, own func() time.Duration) {
	if e.now != nil {
		return e.now, e.now
	}
	return machine.Clocks()
}

// wall is the clock that may be set.
func (e environment) wall() time.Time {
	if e.date != nil {
		return e.date()
	}
	return time.Now()
}

func (e environment) bus() bus.Network {
	if e.network == nil {
		return trackedBus{e.conns, bus.System{}}
	}
	return trackedBus{e.conns, e.network}
}

func (e environment) gossip() members.Network {
	if e.network == nil {
		return trackedMembers{e.conns, members.System{}}
	}
	return trackedMembers{e.conns, e.network}
}

func (e environment) openStore(cfg store.Config) (*store.Store, error) {
	cfg.ExpireFields = collection.ExpireFields
	if e.store != nil {
		e.store(&cfg)
	}
	return store.Open(cfg)
}
