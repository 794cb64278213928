package table

import (
	"context"
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
	starts  *startRegistry
}

func (s *stream) Accept() (net.Conn, error) {
	conn, err := s.layer.Accept()
	if err != nil {
		return nil, err
	}
	return s.starts.guard(conn), nil
}

func (s *stream) Close() error   { return s.layer.Close() }
func (s *stream) Addr() net.Addr { return nodeAddr(s.node) }

func (s *stream) Dial(node raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	address, err := s.address(string(node))
	if err != nil {
		return nil, fmt.Errorf("table: address of %s: %w", node, err)
	}
	conn, err := s.layer.Dial(address, timeout)
	if err != nil {
		return nil, err
	}
	return s.starts.guard(conn), nil
}

type nodeAddr string

func (nodeAddr) Network() string  { return "ringside" }
func (a nodeAddr) String() string { return string(a) }

// dialOnlyStream is a stream that only dials.
type dialOnlyStream struct {
	stream
	closed context.Context
	close  context.CancelFunc
}

func (d *dialOnlyStream) Accept() (net.Conn, error) {
	<-d.closed.Done()
	return nil, net.ErrClosed
}

func (d *dialOnlyStream) Close() error {
	d.close()
	return nil
}

// newTransport returns the transport for entries and votes, and that for heartbeats, which
// gives up sooner: whoever is back is to be noticed soon, and a request that got lost says
// nothing of it. It also returns how to end what they have under way, and then how to close
// the connections that are left over.
func (c *Config) newTransport(known *startRegistry) (t, beats raft.Transport, cut, hangs func()) {
	if c.transport != nil {
		return c.transport, c.transport, func() {}, func() {}
	}
	listening := &stream{c.Transport, c.ID, c.Address, known}
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  listening,
		MaxPool: 3,
		Timeout: raftTimeout,
		Logger:  newLogger(c.Logger),
	})
	dialing := &dialOnlyStream{stream: *listening}
	dialing.closed, dialing.close = context.WithCancel(context.Background())
	pulse := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  dialing,
		MaxPool: 1,
		Timeout: c.HeartbeatTimeout,
		Logger:  newLogger(c.Logger),
	})
	cut = func() {
		_ = pulse.Close()
		_ = network.Close()
	}
	return network, pulse, cut, func() {
		pulse.CloseStreams()
		network.CloseStreams()
		cut()
	}
}
