package node

import (
	"maps"
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
)

func TestOnlyStartsThatWereReplacedAreAbandoned(t *testing.T) {
	r := replacedNodes{self: "self", incarnation: 7}
	before, now := table.Node{ID: "self", Incarnation: 4}, table.Node{ID: "self", Incarnation: 7}
	for i, step := range []struct {
		nodes []table.Node
		want  map[string]uint64
	}{
		{nil, nil},
		{[]table.Node{before, {ID: "a", Incarnation: 5}}, nil},
		{[]table.Node{before, {ID: "a", Incarnation: 5, Failed: 2}}, nil},                         // the replayed history
		{[]table.Node{now, {ID: "a", Incarnation: 5, Failed: 3}, {ID: "b", Incarnation: 6}}, nil}, // long ago
		{[]table.Node{now, {ID: "a", Incarnation: 5, Failed: 3}, {ID: "b", Incarnation: 9}}, nil}, // a restart
		{[]table.Node{now, {ID: "a", Incarnation: 5, Failed: 8}, {ID: "b", Incarnation: 9}}, map[string]uint64{"a": 6}},
		{[]table.Node{now, {ID: "a", Incarnation: 10, Failed: 8}, {ID: "b", Incarnation: 9}}, nil},                                     // it is back
		{[]table.Node{now, {ID: "a", Incarnation: 10, Failed: 8}, {ID: "b", Incarnation: 12, Failed: 11}}, map[string]uint64{"b": 12}}, // and back
		{[]table.Node{now, {ID: "c", Incarnation: 1, Failed: 14}}, map[string]uint64{"c": 1}},
	} {
		if got := r.update(step.nodes); !maps.Equal(got, step.want) {
			t.Errorf("step %d: %v instead of %v", i, got, step.want)
		}
	}
}
