package freeport

import (
	"net"
	"strconv"
	"testing"
)

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestLoopbackReturnsFreePortsInARow(t *testing.T) {
	for range 20 {
		addrs, release, err := Loopback(4)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		last := 0
		for _, addr := range addrs {
			l, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			port := portOf(t, addr)
			if last != 0 && port != last+1 || port < lowest || port >= highest {
				t.Errorf("port %d comes after %d", port, last)
			}
			last = port
		}
	}
}

// Nobody listens on the ports: only the reservation keeps others from them.
func TestReservedPortIsNotGivenAgain(t *testing.T) {
	addrs, release, err := Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	port := portOf(t, addrs[0])
	if again, _ := reserve(port, 1); again != nil {
		t.Errorf("%s is given twice", addrs[0])
	}
	if more, _ := reserve(port-1, 3); more != nil {
		t.Errorf("%s is given in a row, too", addrs[0])
	}
	release()
	again, held := reserve(port, 1)
	if again == nil {
		t.Errorf("%s is still reserved after its release", addrs[0])
	}
	closeAll(held)
}

func TestLoopbackRefusesANumberOutOfRange(t *testing.T) {
	for _, n := range []int{-1, highest - lowest + 1} {
		if _, _, err := Loopback(n); err == nil {
			t.Errorf("%d ports are there", n)
		}
	}
}
