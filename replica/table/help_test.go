package table

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func foundRows(node string, n int) []ring.Row {
	rows := make([]ring.Row, n)
	for i := range rows {
		start := ring.Token(uint64(i) << 32 / uint64(n))
		end := ring.Token(uint64(i+1) << 32 / uint64(n))
		rows[i] = ring.Row{Range: ring.Range{Start: start, End: end}, Epoch: 1, Primary: node}
	}
	return rows
}

func found(node string, n int) *Found {
	return &Found{
		Cluster: Cluster{Name: "test", Generation: 7, Backups: 1, Strategy: Settings{Name: "buckets", Hash: "native", Mask: 0xff}},
		Node:    node, Incarnation: 1, Weight: 1, Rows: foundRows(node, n),
	}
}

// steps applies commands one after the other, each of which must succeed.
func steps(t testing.TB, s *State, commands ...Command) *State {
	t.Helper()
	for _, c := range commands {
		next, err := s.Apply(s.Index()+1, c)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		if err := next.Check(); err != nil {
			t.Fatalf("after %T: %v", c, err)
		}
		s = next
	}
	return s
}

func refsOf(s *State, which func(*Row) bool) []Ref {
	var refs []Ref
	for row := range s.Rows() {
		if which(row) {
			refs = append(refs, row.Ref())
		}
	}
	return refs
}

func mustBytes(t testing.TB, s *State) string {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func nodeID(i int) string { return fmt.Sprintf("n%d", i) }
