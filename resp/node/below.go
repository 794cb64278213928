package node

import (
	"net"
	"os"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store"
)

// below is what lies under a node: the system's network and files, unless a test has put
// others there.
type below struct {
	network members.Network      // nil: the system's
	wire    *wire                // over the network; Open sets it
	store   func(*store.Config)  // nil: as it is
	now     func() time.Duration // nil: the system's clock
	date    func() time.Time     // nil: the system's, which may be set
	steps   func(replica.Step)   // nil: nobody is told
	host    func() string        // nil: the system's name
	table   table.Hooks          // under the table of the cluster
	// versions of the bus protocol; zero: all that this build speaks.
	versions bus.Versions
}

// hostName returns the name of the host; empty if it has none.
func (b below) hostName() string {
	if b.host != nil {
		return b.host()
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}

func (b below) listen(addr string) (net.Listener, error) {
	return b.wire.listen(func(addr string) (net.Listener, error) {
		if b.network != nil {
			return b.network.Listen(addr)
		}
		return net.Listen("tcp", addr)
	}, addr)
}

// clocks go on while the machine is suspended: that by which a node counts the leases of
// others, and that by which it counts its own.
func (b below) clocks() (clock, own func() time.Duration) {
	if b.now != nil {
		return b.now, b.now
	}
	return systemClocks()
}

// wall is the clock that may be set.
func (b below) wall() time.Time {
	if b.date != nil {
		return b.date()
	}
	return time.Now()
}

func (b below) bus() bus.Network {
	if b.network == nil {
		return wiredBus{b.wire, bus.System{}}
	}
	return wiredBus{b.wire, b.network}
}

func (b below) gossip() members.Network {
	if b.network == nil {
		return wiredMembers{b.wire, members.System{}}
	}
	return wiredMembers{b.wire, b.network}
}

func (b below) openStore(cfg store.Config) (*store.Store, error) {
	if b.store != nil {
		b.store(&cfg)
	}
	return store.Open(cfg)
}
