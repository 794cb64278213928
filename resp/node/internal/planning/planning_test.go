package planning

import (
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// The ranges that a plan counts are those that change hands one by one.
func TestMovesAreCountedByRange(t *testing.T) {
	place := func(primaries ...string) *ring.Placement {
		rows := make([]ring.Row, len(primaries))
		for i, id := range primaries {
			rows[i] = ring.Row{Range: ring.Range{Start: ring.Token(i) << 30, End: ring.Token(i+1) << 30}, Epoch: 1, Primary: id}
		}
		p, err := ring.NewPlacement(rows)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got := CountMoves(place("a", "a", "b", "a"), place("b", "b", "b", "c"))
	if len(got) != 2 || got[Pair{"a", "b"}] != 2 || got[Pair{"a", "c"}] != 1 {
		t.Errorf("%v", got)
	}
	nodes := Nodes(place("a", "a", "b", "a"), place("b", "b", "b", "c"), []ring.Member{{ID: "d", Weight: 1}})
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = n.ID
	}
	if !slices.Equal(ids, []string{"a", "b", "c", "d"}) || nodes[1].Before.Ranges != 1 || nodes[1].After.Ranges != 3 || nodes[0].Before.Share != 0.75 {
		t.Errorf("%+v", nodes)
	}
}
