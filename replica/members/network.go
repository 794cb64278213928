package members

import (
	"context"
	"net"
)

// A Network is where a node gossips. The default is the system's; tests have others,
// with delays and partitions (package fakenet). Its methods may be called by several
// goroutines at once.
type Network interface {
	// Listen accepts connections at an IP:port; port 0 is a free one. The address
	// of the listener is a [*net.TCPAddr].
	Listen(addr string) (net.Listener, error)
	// ListenPacket does so for packets. Packets are sent to [*net.UDPAddr], and come
	// from such.
	ListenPacket(addr string) (net.PacketConn, error)
	// Dial connects to an IP:port. It must return when the context ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// System is the system's TCP and UDP.
type System struct{}

// Listen implements [Network].
func (System) Listen(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }

// Dial implements [Network].
func (System) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// packetBuffer is what the system is asked to keep of packets that were not read
// yet; it may give less.
const packetBuffer = 2 << 20

// ListenPacket implements [Network].
func (System) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	_ = conn.(*net.UDPConn).SetReadBuffer(packetBuffer) // less means more repetition
	return conn, nil
}
