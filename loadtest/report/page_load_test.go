package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func TestLayoutFrameShowsWhatChanged(t *testing.T) {
	nodes := []string{"a", "b", "c", "d"}
	before := result.Layout{Nodes: nodes[:3], Primary: []int{0, 0, 1, -1}, Backup: []int{1, 1, 0, -1}}
	after := result.Layout{Nodes: nodes, Primary: []int{1, 0, 1, 1, 2, 2, 2, -1}, Backup: []int{0, 1, 2, -1, 1, 0, -1, -1}} // split in two
	f := layoutFrame(&after, &before)
	got := fmt.Sprint(f.Row, f.Rows)
	for _, n := range f.Nodes {
		got += fmt.Sprintf(" %s:%s %s %s", n.Name, n.Cells, n.Count, strings.Join(n.Changes, ","))
	}
	const want = "8 [00] a:DPxxxS.. 1+2=3 1 to S,−3 gone" +
		" b:USUUDx.. 3+2=5 3 to P,1 to S,−1 gone" +
		" c:..n.NNN. 3+1=4 +4 come"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if f := layoutFrame(&before, nil); len(f.Nodes) != 2 || f.Nodes[0].Cells != "PPS." || len(f.Nodes[0].Changes) > 0 {
		t.Errorf("%+v", f)
	}
	if f := layoutFrame(&result.Layout{Nodes: nodes}, &before); len(f.Nodes) != 0 {
		t.Errorf("of nothing: %+v", f)
	}
}

func TestGridsOfLoadTestsStaySmall(t *testing.T) {
	r := fake{contestants: []string{"vnode"}, rounds: 1, nodes: 60, seed: 1, cells: 1024, script: "load 1; run 1" + strings.Repeat("; join; run 1", 100)}.report()
	size := 0
	for _, f := range placementGrids(r).Frames {
		for _, n := range f.Nodes {
			size += len(n.Cells)
		}
	}
	if size < mostGridBytes/4 || size > mostGridBytes/2 {
		t.Errorf("%d cells", size)
	}
}
