package cluster

import (
	"fmt"
	"slices"
	"testing"
)

func TestLayoutOfBuckets(t *testing.T) {
	order := []string{"n2", "n1"}
	l := layout(owned(t, "n1 n2", "n2", "", "n3 n1 n2"), true, &order)
	if got := fmt.Sprint(l.Nodes, l.Primary, l.Backup); got != "[n2 n1 n3] [1 0 -1 2] [0 -1 -1 1]" {
		t.Error(got)
	}
}

// A cell of the circle is whose the token in its middle is.
func TestLayoutOfTheCircle(t *testing.T) {
	var order []string
	l := layout(owned(t, "a b", "b a", "c b", "a c"), false, &order)
	if len(l.Primary) != 1024 || len(l.Backup) != 1024 {
		t.Fatalf("%d and %d cells", len(l.Primary), len(l.Backup))
	}
	for i := range 1024 {
		if want := []int{0, 1, 2, 0}[i/256]; l.Primary[i] != want {
			t.Errorf("cell %d is of %d, want %d", i, l.Primary[i], want)
		}
		if want := []int{1, 0, 1, 2}[i/256]; l.Backup[i] != want {
			t.Errorf("cell %d is kept by %d, want %d", i, l.Backup[i], want)
		}
	}
	halves := slices.Repeat([]string{"a", "b"}, 1024)
	if l := layout(owned(t, halves...), false, &order); slices.Contains(l.Primary, 0) {
		t.Error("a cell is whose its beginning is")
	}
	if !slices.Equal(l.Nodes, []string{"a", "b", "c"}) {
		t.Error(l.Nodes)
	}
}
