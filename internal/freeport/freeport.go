package freeport

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range out of which systems give outgoing connections
// their local ports: such a port would be free now, and in use a moment later.
//
// A port between lowest and highest is reserved by an open UDP socket at the port that lies
// guard above it. The system lets one process have that socket, and closes it with the
// process. Callers in other processes therefore never get a port that one caller still
// means to use, although nobody listens on it yet.
const (
	lowest, highest = 10000, 20000
	guard           = highest - lowest
)

// attempts is how many places are tried: with half of the ports in use, eight ports in a
// row are found in one of some two hundred.
const attempts = 2000

// Loopback returns n addresses of the loopback interface, with ports in a row, on none of
// which anybody listens. No other call returns one of them, in this process or another of
// the machine, before release is called or the process ends. release may be called by
// any goroutine and more than once; it does not touch what listens on the ports.
func Loopback(n int) (addrs []string, release func(), err error) {
	if n < 0 || n > highest-lowest {
		return nil, nil, errors.New("free ports: a number out of range")
	}
	for range attempts {
		if addrs, held := reserve(lowest+rand.IntN(highest-lowest-n+1), n); addrs != nil {
			return addrs, func() { closeAll(held) }, nil
		}
	}
	return nil, nil, errors.New("no free ports in a row")
}

// reserve returns nil if any of the ports is reserved or in use.
func reserve(port, n int) (addrs []string, held []io.Closer) {
	var looks []io.Closer
	defer func() { closeAll(looks) }()
	addrs = make([]string, 0, n)
	for i := port; i < port+n; i++ {
		g, err := net.ListenPacket("udp", loopback(i+guard))
		if err != nil {
			closeAll(held)
			return nil, nil
		}
		held = append(held, g)
		stream, err := net.Listen("tcp", loopback(i))
		if err != nil {
			closeAll(held)
			return nil, nil
		}
		looks = append(looks, stream)
		packets, err := net.ListenPacket("udp", loopback(i))
		if err != nil {
			closeAll(held)
			return nil, nil
		}
		looks = append(looks, packets)
		addrs = append(addrs, stream.Addr().String())
	}
	return addrs, held
}

func closeAll(all []io.Closer) {
	for _, c := range all {
		_ = c.Close() // a loopback socket that was never used
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
