package freeport

import (
	"net"
	"testing"
)

// The ports are in a row, and whoever listens on one of them keeps it.
func TestPortsAreFreeAndInARow(t *testing.T) {
	taken := make(map[string]bool)
	for range 20 {
		addrs, err := Loopback(4)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, addr := range addrs {
			if taken[addr] {
				t.Errorf("%s is in use", addr)
			}
			l, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			taken[addr] = true
			port := l.Addr().(*net.TCPAddr).Port
			if last != 0 && port != last+1 || port < lowest || port >= highest {
				t.Errorf("port %d comes after %d", port, last)
			}
			last = port
		}
	}
}
