package listeners

import (
	"fmt"
	"io/fs"
	"net"
	"sync"

	"github.com/ringside-kv/ringside/internal/unixsocket"
)

// Config names the sockets.
type Config struct {
	// Addr is the host:port to listen on; empty: no TCP socket is opened. TCP opens it.
	Addr string
	TCP  func(addr string) (net.Listener, error)
	// Unix is the path of the Unix socket, and Mode its permission bits; an empty path: none.
	Unix string
	Mode fs.FileMode
	// Inherited are listeners that are open already.
	Inherited []net.Listener
	// Memory accepts connections of the same process.
	Memory net.Listener
	// Track returns a listener that is closed when the node is cut off from the network.
	Track func(net.Listener) (net.Listener, error)
}

// Set is the sockets of a node. It is not changed after Open.
type Set struct{ all []net.Listener }

// Open opens all sockets, or none.
func Open(cfg Config) (*Set, error) {
	s := new(Set)
	for _, l := range cfg.Inherited {
		tracked, err := cfg.Track(l)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.all = append(s.all, tracked)
	}
	if cfg.Addr != "" {
		l, err := cfg.TCP(cfg.Addr)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("listen: %w", err)
		}
		s.all = append(s.all, l)
	}
	if cfg.Unix != "" {
		l, err := unixsocket.Listen(cfg.Unix, cfg.Mode)
		if err == nil {
			l, err = cfg.Track(l)
		}
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("listen: %w", err)
		}
		s.all = append(s.all, l)
	}
	memory, err := cfg.Track(cfg.Memory)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.all = append(s.all, memory)
	return s, nil
}

// IsUnix reports whether an address is that of a Unix socket.
func IsUnix(addr net.Addr) bool { return addr.Network() == "unix" }

// Addr is the address of the first TCP socket; if there is none, that of the first Unix socket, or
// else that of connections within the process.
func (s *Set) Addr() net.Addr {
	if tcp := s.TCP(); tcp != nil {
		return tcp
	}
	return s.all[0].Addr()
}

// TCP is the address of the first TCP socket, nil if there is none.
func (s *Set) TCP() net.Addr {
	for _, l := range s.all {
		if l.Addr().Network() == "tcp" {
			return l.Addr()
		}
	}
	return nil
}

// Unix is the path of the first Unix socket, empty if there is none.
func (s *Set) Unix() string {
	for _, l := range s.all {
		if addr, ok := l.Addr().(unixsocket.Addr); ok {
			return addr.Path
		}
	}
	return ""
}

// Serve calls serve with each socket, in a goroutine of its own, and failed with each error. It
// returns when all calls have ended.
func (s *Set) Serve(serve func(net.Listener) error, failed func(error)) {
	var running sync.WaitGroup
	for _, l := range s.all {
		running.Go(func() { failed(serve(l)) })
	}
	running.Wait()
}

// Close closes all sockets.
func (s *Set) Close() {
	for _, l := range s.all {
		_ = l.Close()
	}
}
