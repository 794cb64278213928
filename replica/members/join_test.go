package members

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/freeport"
)

// names is a resolver that tests fill.
type names struct {
	mu    sync.Mutex
	hosts map[string][]string
	asked chan struct{}
}

func newNames() *names { return &names{hosts: map[string][]string{}, asked: make(chan struct{}, 1)} }

func (n *names) set(host string, addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host] = addrs
}

func (n *names) LookupHost(_ context.Context, host string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	signal(n.asked)
	if addrs, ok := n.hosts[host]; ok {
		return addrs, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestNameStandsForSeveralPeers(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Skip("127.0.0.2 is not here:", err)
	} else {
		l.Close()
	}
	a := start(t, "a", 1)
	_, port, _ := net.SplitHostPort(addr(a))
	names := newNames()
	// The first address has nobody.
	names.set("ringside.example", "127.0.0.3", "127.0.0.1", "127.0.0.2")
	cfg := testConfig(t, "b", 1, net.JoinHostPort("ringside.example", port))
	cfg.BindAddr = net.JoinHostPort("127.0.0.2", port) // its own is among them
	cfg.Resolver = names
	b := open(t, cfg)
	awaitNode(t, a, "b", Alive, 1)
	awaitNode(t, b, "a", Alive, 1)
}

func TestJoinRetriesUntilThePeerStarts(t *testing.T) {
	free, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	later := free[0]
	told := newRecords()
	cfg := testConfig(t, "b", 1, later)
	cfg.Logger = slog.New(told)
	b := open(t, cfg)
	told.await(t, "peer does not answer", later)
	notFatal(t, b)
	cfg = testConfig(t, "a", 1)
	cfg.BindAddr = later
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	awaitNode(t, b, "a", Alive, 1)
}

func TestOwnAddressIsNeitherAnErrorNorASuccess(t *testing.T) {
	free, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	own := free[0]
	_, port, _ := net.SplitHostPort(own)
	names := newNames()
	names.set("self.example", "127.0.0.1")
	cfg := testConfig(t, "a", 1, own, net.JoinHostPort("self.example", port), net.JoinHostPort("peer.example", port))
	cfg.BindAddr, cfg.Resolver = own, names
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for range 3 { // looked up again and again
		<-names.asked
	}
	notFatal(t, a)
	if !a.alone() {
		t.Errorf("a has joined itself: %v", a.Nodes())
	}
}

func TestTwoIslandsMeet(t *testing.T) {
	a := start(t, "a", 1)
	names := newNames()
	_, port, _ := net.SplitHostPort(addr(a))
	b := start(t, "b", 1)
	cfg := testConfig(t, "c", 1, addr(b), net.JoinHostPort("island.example", port))
	cfg.Resolver = names
	c := open(t, cfg)
	awaitNode(t, b, "c", Alive, 1) // c has company, and does not know a
	names.set("island.example", "127.0.0.1")
	for _, m := range []*Members{a, b, c} {
		await(t, m, "all three", func() bool { return m.view.Load().count(Alive) == 3 })
	}
}

func TestSplitHostPort(t *testing.T) {
	for _, test := range []struct {
		in, host string
		port     uint16
	}{
		{"a:1", "a", 1}, {"a", "a", DefaultPort}, {"a.b.c.", "a.b.c.", DefaultPort},
		{"10.0.0.1", "10.0.0.1", DefaultPort}, {"10.0.0.1:65535", "10.0.0.1", 65535},
		{"::1", "::1", DefaultPort}, {"[::1]", "::1", DefaultPort}, {"[::1]:5", "::1", 5},
	} {
		host, port, err := splitHostPort(test.in, DefaultPort)
		if err != nil || host != test.host || port != test.port {
			t.Errorf("%q is %q, %d, %v", test.in, host, port, err)
		}
	}
	for _, bad := range []string{"", ":", ":1", "a:", "a:0", "a:65536", "a:-1", "a:x", "a:1:2", "a/b:1", "a b:1", "[::1", "[::1]x"} {
		if host, port, err := splitHostPort(bad, DefaultPort); err == nil {
			t.Errorf("%q is %q, %d", bad, host, port)
		}
	}
}

func FuzzSplitHostPort(f *testing.F) {
	f.Add("a:1")
	f.Add("[::1]")
	f.Add("]")
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := splitHostPort(s, DefaultPort)
		if err != nil {
			return
		}
		again := net.JoinHostPort(host, fmt.Sprint(port))
		if h, p, err := splitHostPort(again, 1); err != nil || h != host || p != port {
			t.Errorf("%q is %q, %d; %q is %q, %d, %v", s, host, port, again, h, p, err)
		}
	})
}

func TestOwnAddressesOfEveryInterface(t *testing.T) {
	own := ownAddresses(netip.MustParseAddrPort("0.0.0.0:7"), netip.MustParseAddrPort("10.9.8.7:8"))
	for _, want := range []string{"127.0.0.1:7", "10.9.8.7:8"} {
		if !own[netip.MustParseAddrPort(want)] {
			t.Errorf("%s is not among %v", want, own)
		}
	}
}
