package table

import (
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

// raftTimeout bounds one exchange between two servers; snapshots get more.
const raftTimeout = 5 * time.Second

// stream is a StreamLayer as the library wants it. A server's address is the name of
// its node, which outlives every real address; those are looked up on each dial.
type stream struct {
	layer   StreamLayer
	node    string
	address func(string) (string, error)
}

func (s *stream) Accept() (net.Conn, error) { return s.layer.Accept() }
func (s *stream) Close() error              { return s.layer.Close() }
func (s *stream) Addr() net.Addr            { return nodeAddr(s.node) }

func (s *stream) Dial(node raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	address, err := s.address(string(node))
	if err != nil {
		return nil, fmt.Errorf("table: address of %s: %w", node, err)
	}
	return s.layer.Dial(address, timeout)
}

type nodeAddr string

func (nodeAddr) Network() string  { return "ringside" }
func (a nodeAddr) String() string { return string(a) }

// newTransport also returns how to end what it has under way, and then how to close the
// connections that are left over.
func (c *Config) newTransport() (t raft.Transport, cut, hangs func()) {
	if c.transport != nil {
		return c.transport, func() {}, func() {}
	}
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  &stream{c.Transport, c.ID, c.Address},
		MaxPool: 3,
		Timeout: raftTimeout,
		Logger:  newLogger(c.Logger),
	})
	return network, func() { _ = network.Close() }, func() {
		network.CloseStreams()
		_ = network.Close()
	}
}
