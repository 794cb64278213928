package cluster

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

// quarters are pieces of one placement in quarters, each with operations a second and bytes.
func quarters(p *ring.Placement, ops [4]float64, bytes [4]int64) *Loads {
	l := &Loads{Placement: p}
	for i := range 4 {
		row := p.Row(i)
		l.Pieces = append(l.Pieces, Piece{Range: row.Range, Node: row.Primary, Rate: load.Rate{Ops: ops[i]}, Holding: Holding{Keys: bytes[i] / 10, Bytes: bytes[i]}})
	}
	return l
}

func TestLeastLoadTakesTheHottestBytesFirst(t *testing.T) {
	before := quarters(owned(t, "a", "a", "b", "c"), [4]float64{300, 100, 50, 50}, [4]int64{1000, 1000, 1000, 1000})
	for _, tt := range []struct {
		after []string
		want  Holding
	}{
		{[]string{"a", "a", "b", "c"}, Holding{}},
		{[]string{"b", "a", "b", "c"}, Holding{100, 1000}}, // 300 of a's 400 go
		{[]string{"a", "b", "b", "c"}, Holding{33, 333}},   // 100 go, which are a third of the hottest
		{[]string{"c", "b", "b", "c"}, Holding{200, 2000}},
		{[]string{"a", "a", "c", "b"}, Holding{}}, // an exchange leaves loads as they were
	} {
		if got := LeastLoad(before, owned(t, tt.after...)); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.after, got, tt.want)
		}
	}
}

func TestLeastLoadOfPromotionsIsNothing(t *testing.T) {
	before := quarters(owned(t, "a b", "a c", "b c", "c b"), [4]float64{300, 100, 50, 50}, [4]int64{1000, 1000, 1000, 1000})
	if got := LeastLoad(before, owned(t, "b a", "c a", "b c", "c b")); got != (Holding{}) {
		t.Errorf("%+v", got)
	}
	// Of the 400 that go to c, c has a copy of 100.
	if got := LeastLoad(before, owned(t, "c b", "c a", "b c", "c b")); got != (Holding{100, 1000}) {
		t.Errorf("%+v", got)
	}
}

func TestPiecesAreReadAsNodesWriteThem(t *testing.T) {
	all, err := readPieces("a", []string{"00000000-40000000", "12.500", "3.0", "7", "700", "40000000-00000000", "0.000", "0.0", "0", "0"})
	if err != nil || len(all) != 2 || all[0] != (Piece{Range: ring.Range{End: 1 << 30}, Node: "a", Rate: load.Rate{Ops: 12.5, Bytes: 3}, Holding: Holding{7, 700}}) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, words := range [][]string{{"00000000-40000000"}, {"x", "1", "1", "1", "1"}, {"00000000-40000000", "x", "1", "1", "1"}, {"00000000-40000000", "1", "1", "1", "x"}} {
		if _, err := readPieces("a", words); err == nil {
			t.Errorf("%v is read", words)
		}
	}
}

func TestChartOfLoadsAddsUpCellsAndNodes(t *testing.T) {
	l := &Loads{Placement: owned(t, "a", "b", "a", "a")}
	for _, node := range []string{"a", "b"} {
		for i := range uint32(load.Cells) {
			of := ring.Range{Start: ring.Token(i << 18), End: ring.Token((i + 1) << 18)}
			if row := l.Placement.Lookup(of.Start); row.Primary == node {
				l.Pieces = append(l.Pieces, Piece{Range: of, Node: node, Rate: load.Rate{Ops: float64(i%16) + float64(i/8192), Bytes: 1}})
			}
		}
	}
	c := l.Chart(time.Now())
	for i, x := range c.PerSecond {
		if want := 120 + float64(i/512*16); x != want {
			t.Fatalf("cell %d has %v, want %v", i, x, want)
		}
	}
	want := []result.NodeLoad{
		{Node: "a", PerSecond: 256*120 + 512*136, BytesPerSecond: 12288, Hottest: "80000000-c0000000", HottestRate: 256 * 136},
		{Node: "b", PerSecond: 256 * 120, BytesPerSecond: 4096, Hottest: "40000000-80000000", HottestRate: 256 * 120},
	}
	if !slices.Equal(c.Nodes, want) || len(c.PerSecond) != 1024 {
		t.Errorf("%+v", c.Nodes)
	}
	if got := c.HottestRange(); math.Abs(got-136./(3*120+2*136-120)) > 1e-9 {
		t.Errorf("the hottest range has %v", got)
	}
	if got, mean := c.MaxToMean(), float64(256*120*2+512*136)/2; math.Abs(got-(256*120+512*136)/mean) > 1e-9 {
		t.Errorf("the busiest node has %v × the mean", got)
	}
}

func TestHotKeysAreNeighboursOfOneNode(t *testing.T) {
	token := func(key []byte) ring.Token {
		var n uint32
		_, _ = fmt.Sscanf(string(key), "k%d", &n)
		return ring.Token(n * 2654435761) // all over the circle
	}
	name := func(b []byte, key int64) []byte { return fmt.Appendf(b, "k%d", key) }
	p := owned(t, "b", "a", "b", "a")
	hot, err := hotKeys(p, token, "a", 1000, name, 0.1)
	if err != nil || len(hot) != 100 {
		t.Fatal(len(hot), err)
	}
	for _, key := range hot {
		if at := token(name(nil, key)); at < 1<<30 || at >= 1<<30+1<<29 { // a tenth of the keys from a's first range on
			t.Errorf("key %d at %08x", key, uint32(at))
		}
	}
	if _, err := hotKeys(p, token, "a", 1000, name, 0.6); err == nil {
		t.Error("a serves half of the keys, and 60 % of all are hot")
	}
}

func TestOverridesAreReadAsNodesWriteThem(t *testing.T) {
	all, err := readOverrides("load_balancing:on\r\noverrides:1\r\noverride:range=40000000-50000000,node=b=1,home=a\r\nhandoffs:0\r\n")
	if err != nil || !slices.Equal(all, []ring.Override{{Range: ring.Range{Start: 1 << 30, End: 5 << 28}, Node: "b=1", Home: "a"}}) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := readOverrides("override:range=4,node=b,home=a"); err == nil {
		t.Error("4 is a range")
	}
}
