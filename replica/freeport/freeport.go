package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range out of which systems give outgoing connections
// their local ports: such a port would be free now, and in use a moment later.
const lowest, highest = 10000, 30000

// Loopback returns n addresses of the loopback interface, with ports in a row, on none of
// which anybody listens.
func Loopback(n int) ([]string, error) {
	for range 100 {
		if addrs := from(lowest+rand.IntN(highest-lowest-n), n); addrs != nil {
			return addrs, nil
		}
	}
	return nil, errors.New("no free ports in a row")
}

func from(port, n int) (addrs []string) {
	for i := range n {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
		if err != nil {
			return nil
		}
		addrs = append(addrs, l.Addr().String())
		defer l.Close()
	}
	return addrs
}
