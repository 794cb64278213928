package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// faultyNetwork fails to connect.
type faultyNetwork struct {
	System
	err error
}

func (f *faultyNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if f.err != nil {
		return nil, fmt.Errorf("connect: %w", f.err)
	}
	return f.System.Dial(ctx, addr)
}

// A probe tells a node that accepts nothing from faults of the own process.
func TestProbeBlamesOnlyTheOtherNode(t *testing.T) {
	b := startBus(t, testConfig("b"))
	b.Handle(Control, func(_ Peer, conn net.Conn) { _ = conn.Close() })
	network := new(faultyNetwork)
	cfg := testConfig("a")
	cfg.Network = network
	a := startBus(t, cfg)
	// Its system accepts connections, but it does not.
	stuck, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stuck.Close() }()
	probe := func(addr, id string, timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		return a.Probe(ctx, addr, id)
	}
	if err := probe(b.Addr().String(), "b", time.Minute); err != nil {
		t.Errorf("a node that accepts: %v", err)
	}
	if err := probe(stuck.Addr().String(), "b", 10*time.Millisecond); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a listener that is stuck: %v", err)
	}
	if err := probe(b.Addr().String(), "c", time.Minute); err == nil || errors.Is(err, ErrNoAnswer) {
		t.Errorf("another node than asked for: %v", err)
	}
	for fault, other := range map[error]bool{
		syscall.ECONNREFUSED: true, syscall.EHOSTUNREACH: true,
		syscall.EMFILE: false, syscall.ENFILE: false, syscall.EADDRNOTAVAIL: false,
	} {
		network.err = fault
		if err := probe(b.Addr().String(), "b", time.Minute); errors.Is(err, ErrNoAnswer) != other || !errors.Is(err, fault) {
			t.Errorf("%v: %v", fault, err)
		}
	}
}
