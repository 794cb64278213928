package nonetwork

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// ErrNoNetwork is the error of an attempt to reach another node.
var ErrNoNetwork = errors.New("this node has no network to other nodes: bus-addr is off")

// Network fits where a node takes a network. Its methods may be called from any goroutine.
type Network struct{}

// Listen returns a listener that accepts nothing until it is closed.
func (Network) Listen(string) (net.Listener, error) { return newSocket(), nil }

// ListenPacket returns a connection that drops what is written and receives nothing.
func (Network) ListenPacket(string) (net.PacketConn, error) { return packets{newSocket()}, nil }

// Dial fails.
func (Network) Dial(context.Context, string) (net.Conn, error) { return nil, ErrNoNetwork }

// A socket is open until it is closed, and does nothing.
type socket struct {
	closed chan struct{}
	once   sync.Once
}

func newSocket() *socket { return &socket{closed: make(chan struct{})} }

func (s *socket) Accept() (net.Conn, error) {
	<-s.closed
	return nil, net.ErrClosed
}

func (s *socket) Close() error {
	err := net.ErrClosed
	s.once.Do(func() {
		close(s.closed)
		err = nil
	})
	return err
}

// Addr is a port of loopback that is not open.
func (s *socket) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

type packets struct{ *socket }

func (p packets) LocalAddr() net.Addr { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p packets) ReadFrom([]byte) (int, net.Addr, error) {
	<-p.closed
	return 0, nil, net.ErrClosed
}

func (p packets) WriteTo(b []byte, _ net.Addr) (int, error) {
	select {
	case <-p.closed:
		return 0, net.ErrClosed
	default:
		return len(b), nil
	}
}

// Deadlines are not supported: nothing that has one uses this connection.
func (packets) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (packets) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (packets) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
