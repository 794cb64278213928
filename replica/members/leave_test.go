package members

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestLeaveIsNoFailure(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 1, addr(a))
	awaitNode(t, a, "b", Alive, 1)
	awaitNode(t, b, "a", Alive, 1)
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Left, 1)
	awaitNode(t, b, "b", Left, 1)
	if err := b.Leave(t.Context()); err != nil {
		t.Errorf("leaving twice: %v", err)
	}
	if err := b.SetWeight(2); !errors.Is(err, ErrLeft) {
		t.Errorf("weight after leaving: %v", err)
	}
}

func TestLeaveAloneAndCloseAtOnce(t *testing.T) {
	a := start(t, "a", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Leave(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { _ = a.Leave(t.Context()) })
		wait.Go(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestClosed(t *testing.T) {
	a := start(t, "a", 1)
	events, cancel := a.Watch()
	defer cancel()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for range events { // ends
	}
	late, cancelLate := a.Watch()
	cancelLate()
	if _, open := <-late; open {
		t.Error("a watch after Close has something to say")
	}
	if err := a.Leave(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("leave: %v", err)
	}
	if err := a.SetWeight(2); !errors.Is(err, ErrClosed) {
		t.Errorf("weight: %v", err)
	}
	if n, ok := a.Node("a"); !ok || n.ID != "a" {
		t.Errorf("node is %v, %v", n, ok)
	}
}

func TestChangesReachTheOthers(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 1, addr(a))
	awaitNode(t, a, "b", Alive, 1)
	if err := b.SetWeight(2.5); err != nil {
		t.Fatal(err)
	}
	if err := b.SetAddrs("bus.example:7", "client.example:8"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Members{a, b} {
		await(t, m, "b's changes", func() bool {
			n, _ := m.Node("b")
			return n.Weight == 2.5 && n.BusAddr == "bus.example:7" && n.ClientAddr == "client.example:8"
		})
	}
	if err := b.SetWeight(0); err == nil {
		t.Error("a store of weight 0")
	}
	if err := b.SetAddrs("nothing", "client.example:8"); err == nil {
		t.Error("an address without a port")
	}
}

func TestRestartedNodeFindsItsPeersAgain(t *testing.T) {
	a := start(t, "a", 1)
	cfg := testConfig(t, "b", 1, addr(a))
	cfg.Dir = t.TempDir()
	b := open(t, cfg)
	c := start(t, "c", 1, addr(a))
	awaitNode(t, b, "c", Alive, 1)
	awaitNode(t, b, "a", Alive, 1)
	if err := a.Close(); err != nil { // the one it once joined
		t.Fatal(err)
	}
	awaitNode(t, b, "a", Failed, 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := loadPeers(cfg.Dir, cfg.Cluster)
	if err != nil || len(p.known) != 2 {
		t.Fatalf("the file knows %v, %v", p.known, err)
	}
	cfg.Join, cfg.Incarnation = nil, 2
	b = open(t, cfg)
	awaitNode(t, b, "c", Alive, 1)
	awaitNode(t, c, "b", Alive, 2)
}

func TestNodeThatLeftDoesNotComeBackByItself(t *testing.T) {
	a := start(t, "a", 1)
	cfg := testConfig(t, "b", 1, addr(a))
	cfg.Dir = t.TempDir()
	b := open(t, cfg)
	awaitNode(t, b, "a", Alive, 1)
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Left, 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(cfg.Dir); err != nil || len(entries) != 0 {
		t.Errorf("it left behind %v, %v", entries, err)
	}
	cfg.Join, cfg.Incarnation = nil, 2
	b = open(t, cfg)
	if known := b.knownPeers(); len(known) != 0 {
		t.Errorf("it still knows %v", known)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Join, cfg.Incarnation = []string{addr(a)}, 3 // told to, it does
	open(t, cfg)
	awaitNode(t, a, "b", Alive, 3)
}

func TestBadFileOfPeersDoesNotStopANode(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", `{"format":2}`,
		`{"format":1,"cluster":"other","peers":{"a":"127.0.0.1:1"}}`,
		`{"format":1,"cluster":"test","peers":{"a":"nowhere"}}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, peersFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := loadPeers(dir, "test"); err == nil || len(p.known) != 0 {
			t.Errorf("%q: %v, %v", text, p.known, err)
		}
		cfg := testConfig(t, "a", 1)
		cfg.Dir = dir
		open(t, cfg)
	}
}

func TestPeersThatWereNotSeenStay(t *testing.T) {
	p, err := loadPeers(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if !p.update("self", []Node{
		{ID: "self", GossipAddr: "10.0.0.1:1", Status: Alive},
		{ID: "a", GossipAddr: "10.0.0.2:1", Status: Alive},
		{ID: "b", GossipAddr: "10.0.0.3:1", Status: Failed},
		{ID: "c", GossipAddr: "10.0.0.4:1", Status: Alive},
	}) {
		t.Error("nothing new")
	}
	if err := p.save(); err != nil {
		t.Fatal(err)
	}
	p, err = loadPeers(filepath.Dir(p.path), "test")
	if err != nil {
		t.Fatal(err)
	}
	p.update("self", []Node{{ID: "a", GossipAddr: "10.0.0.9:1", Status: Alive}, {ID: "c", Status: Left}})
	var got []string
	for id, addr := range p.known {
		got = append(got, id+" "+addr.String())
	}
	slices.Sort(got)
	if want := []string{"a 10.0.0.9:1", "b 10.0.0.3:1"}; !slices.Equal(got, want) {
		t.Errorf("known are %v, want %v", got, want)
	}
	if p.update("self", nil) {
		t.Error("no news are new")
	}
}

func FuzzParsePeers(f *testing.F) {
	f.Add([]byte(`{"format":1,"cluster":"test","peers":{"a":"127.0.0.1:1","b":"[::1]:2"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		known, err := parsePeers(text, "test")
		if err != nil {
			return
		}
		for id, addr := range known {
			if validateID(id) != nil || !addr.IsValid() {
				t.Errorf("%q at %v", id, addr)
			}
		}
	})
}
