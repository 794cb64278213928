package members

import (
	"math"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"
	"github.com/hashicorp/serf/serf"
)

func TestTagsRoundTripThroughGossip(t *testing.T) {
	cfg := testConfig(t, "b", math.MaxUint64)
	cfg.Role, cfg.Weight, cfg.Version = RoleProxy, 0, "v1.2.3-\x00\xff"
	cfg.Generation, cfg.Expect = math.MaxUint64, 3
	cfg.BusAddr, cfg.ClientAddr = "[::1]:65535", "bus.example:1"
	a := start(t, "a", 1)
	cfg.Join = []string{addr(a)}
	b := open(t, cfg)
	awaitNode(t, a, "b", Alive, math.MaxUint64)
	want := Node{"b", math.MaxUint64, RoleProxy, 0, cfg.Version, cfg.BusAddr, cfg.ClientAddr, addr(b), Alive, cfg.Generation, cfg.Expect}
	if got, _ := a.Node("b"); got != want {
		t.Errorf("b is %+v, want %+v", got, want)
	}
}

func TestTagsFillTheRoomExactly(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	for cfg.tags().checkSize() == nil {
		cfg.Version += "x"
	}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "shorten") {
		t.Error(err)
	}
	cfg.Version = cfg.Version[1:]
	m := open(t, cfg) // Serf takes what checkSize takes
	if meta := m.serf.Memberlist().LocalNode().Meta; len(meta) != memberlist.MetaMaxSize {
		t.Errorf("%d bytes of %d are used", len(meta), memberlist.MetaMaxSize)
	}
	if err := m.SetAddrs("a-bus-address-that-is-longer:1", "127.0.0.1:2"); err == nil {
		t.Error("no error of a longer address")
	}
}

func FuzzDecodeTags(f *testing.F) {
	f.Add("")
	f.Add(tags{protocol: 1, oldest: 1, cluster: "c", strategy: "s", hash: "h", role: RoleStore, weight: 1, version: "v", busAddr: "b:1", clientAddr: "c:1"}.encode())
	f.Add(tags{protocol: math.MaxUint64, role: RoleProxy}.encode() + "later")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := decodeTags(s)
		if err != nil {
			return
		}
		again, err := decodeTags(got.encode())
		if err != nil || again != got {
			t.Errorf("%+v becomes %+v, %v", got, again, err)
		}
	})
}

func FuzzTagsRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint64(1), "c", "s", "h", true, 1.0, "v", "b:1", "c:1", uint64(5), uint64(3))
	f.Fuzz(func(t *testing.T, protocol, oldest uint64, cluster, strategy, hash string, proxy bool, weight float64, version, bus, client string, generation, expect uint64) {
		want := tags{protocol, oldest, cluster, strategy, hash, RoleStore, weight, version, bus, client, generation, expect}
		if proxy {
			want.role = RoleProxy
		}
		if validateWeight(want.role, weight) != nil {
			return
		}
		got, err := decodeTags(want.encode())
		if err != nil || got != want {
			t.Errorf("%+v becomes %+v, %v", want, got, err)
		}
	})
}

func FuzzParseLife(f *testing.F) {
	f.Add("a#1#2")
	f.Add(newStartID("node.example:1", math.MaxUint64).name())
	f.Fuzz(func(t *testing.T, name string) {
		l, err := parseStartID(name)
		if err == nil && l.name() != name {
			t.Errorf("%q is %+v, whose name is %q", name, l, l.name())
		}
	})
}

func TestParseLife(t *testing.T) {
	for _, bad := range []string{"", "a", "a#1", "#1#1", "a#1#1#1", "a##1", "a#1#", "a#-1#1", "a#+1#1", "a#01#1", "a#A#1", "a#1#zzzzzzzz", "a b#1#1", "a/b#1#1"} {
		if l, err := parseStartID(bad); err == nil {
			t.Errorf("%q is %+v", bad, l)
		}
	}
	for range 100 {
		l := newStartID("node-1", math.MaxUint64)
		if got, err := parseStartID(l.name()); err != nil || got != l {
			t.Errorf("%+v becomes %+v, %v", l, got, err)
		}
	}
}

func TestViewShowsTheLatestStartOfEachNode(t *testing.T) {
	tag := map[string]string{tagKey: tags{role: RoleStore, weight: 1}.encode()}
	member := func(l startID, status serf.MemberStatus, port uint16) serf.Member {
		return serf.Member{Name: l.name(), Tags: tag, Status: status, Addr: []byte{127, 0, 0, 1}, Port: port}
	}
	members := []serf.Member{
		member(startID{"b", 1, 5}, serf.StatusAlive, 1),
		member(startID{"b", 2, 1}, serf.StatusFailed, 2), // later, though failed
		member(startID{"a", 3, 9}, serf.StatusFailed, 3),
		member(startID{"a", 3, 1}, serf.StatusAlive, 4), // alive before not alive
		member(startID{"c", 1, 1}, serf.StatusLeaving, 5),
		member(startID{"c", 1, 2}, serf.StatusAlive, 6), // the higher number
		member(startID{"d", 1, 1}, serf.StatusLeft, 7),
		{Name: "stranger", Tags: tag, Status: serf.StatusAlive},
		{Name: "e#1#1", Status: serf.StatusAlive},
		member(startID{"f", 1, 1}, serf.StatusNone, 8),
		member(startID{"g", 9, 1}, serf.StatusLeft, 9),
		member(startID{"g", 1, 1}, serf.StatusAlive, 10), // began anew
		member(startID{"h", 9, 1}, serf.StatusLeft, 11),
		member(startID{"h", 1, 1}, serf.StatusFailed, 12), // an earlier start, before it left
		member(startID{"i", 1, 1}, serf.StatusAlive, 13),
		member(startID{"i", 2, 1}, serf.StatusFailed, 14),
		member(startID{"i", 3, 1}, serf.StatusLeft, 15),
	}
	for range len(members) { // in any order
		v := newView(members)
		var got []string
		for _, n := range v.nodes {
			got = append(got, n.ID+" "+n.GossipAddr+" "+n.Status.String())
		}
		want := "a 127.0.0.1:4 alive, b 127.0.0.1:2 failed, c 127.0.0.1:6 alive, d 127.0.0.1:7 left, g 127.0.0.1:10 alive, h 127.0.0.1:11 left, i 127.0.0.1:14 failed"
		if strings.Join(got, ", ") != want {
			t.Fatalf("got %v, want %s", got, want)
		}
		members = append(members[1:], members[0])
	}
}
