package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func crew(ids ...string) (all []*member) {
	for _, id := range ids {
		all = append(all, &member{id: id})
	}
	return all
}

func names(all []*member) string {
	var ids []string
	for _, m := range all {
		ids = append(ids, m.id)
	}
	return strings.Join(ids, " ")
}

// owned makes a placement of ranges, each with the nodes that have it.
func owned(t *testing.T, rows ...string) *ring.Placement {
	t.Helper()
	var all []ring.Row
	step := uint64(1<<32) / uint64(len(rows))
	for i, text := range rows {
		ids := strings.Fields(text)
		r := ring.Row{Range: ring.Range{Start: ring.Token(uint64(i) * step), End: ring.Token(uint64(i+1) * step % (uint64(len(rows)) * step))}}
		if len(ids) > 0 {
			r.Primary, r.Backups = ids[0], ids[1:]
		}
		all = append(all, r)
	}
	p, err := ring.NewPlacement(all)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Those die first with whom nothing is lost, in the order in which they were drawn.
func TestVictimsLeaveACopy(t *testing.T) {
	for _, tt := range []struct {
		rows []string
		n    int
		want string
	}{
		{[]string{"a b", "b c", "c a", "d c"}, 1, "a"},
		{[]string{"a", "b c", "c a", "d c"}, 1, "b"},
		{[]string{"a b", "b c", "c a", "d c"}, 2, "a d"},
		{[]string{"a b", "b c", "c d", "d a"}, 2, "a c"},
		{[]string{"a b c", "b c d", "c d a", "d a b"}, 2, "a b"},
		{[]string{"a b", "a c", "a d", "b c", "b d", "c d", "a b", "a c"}, 2, "a d"}, // as little as can be
		{[]string{"a", "b", "c", "c"}, 1, "d"},
	} {
		if got := names(victims(crew("a", "b", "c", "d"), tt.n, owned(t, tt.rows...))); got != tt.want {
			t.Errorf("of %q: %s, want %s", tt.rows, got, tt.want)
		}
	}
}

// The same seed draws the same, event by event, whatever the strategy; others draw others.
func TestDraw(t *testing.T) {
	draws := func(seed uint64, spare bool) (all []string) {
		f := &Cluster{cfg: Config{Seed: seed, SpareFirst: spare}}
		for range 5 {
			all = append(all, names(f.draw(crew("n1", "n2", "n3", "n4"))))
		}
		return all
	}
	first := fmt.Sprint(draws(1, false))
	if again := fmt.Sprint(draws(1, false)); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if other := fmt.Sprint(draws(2, false)); other == first {
		t.Errorf("seed 2 draws %s, too", other)
	}
	seen := make(map[string]bool)
	for seed := range uint64(20) {
		for _, d := range draws(seed, false) {
			seen[d[:2]] = true
		}
		for _, d := range draws(seed, true) {
			if !strings.HasSuffix(d, "n1") {
				t.Errorf("the first is not spared: %s", d)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("only %v are ever first", seen)
	}
}
