//go:build !linux

package rounds

import (
	"errors"
	"net"
)

// A Poller does nothing on systems without epoll.
type Poller struct{}

// New returns errors.ErrUnsupported.
func New() (*Poller, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Poller) Close() error { return nil }

// Take returns errors.ErrUnsupported.
func (*Poller) Take(net.Conn) (*Conn, error) { return nil, errors.ErrUnsupported }

func (*Poller) sever() {}

// Conn is never made.
type Conn struct{ net.Conn }

// Serve does nothing.
func (*Conn) Serve(Handler) {}

// Park returns false.
func (*Conn) Park() bool { return false }

// A Turn is none.
type Turn struct{}

// Leave does nothing.
func (*Turn) Leave() {}

// InRound returns false.
func (*Turn) InRound() bool { return false }

// AtEnd calls f.
func (*Turn) AtEnd(f func()) { f() }
