package placement

import (
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestCopiesOfOwnRanges(t *testing.T) {
	place := func(first, second ring.Row) *ring.Placement {
		first.Range, second.Range = ring.Range{End: 1 << 31}, ring.Range{Start: 1 << 31}
		p, err := ring.NewPlacement([]ring.Row{first, second})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	old := place(ring.Row{Primary: "a", Backups: []string{"b", "c"}}, ring.Row{Primary: "b", Backups: []string{"a"}})
	now := place(ring.Row{Primary: "a", Backups: []string{"d"}}, ring.Row{Primary: "b"})
	if left, came := SetChanges(old, now, "a"); left != 2 || came != 1 {
		t.Errorf("%d backups left, %d came", left, came)
	}
	if got := BackupsOf(old, "a"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("the backups of a are %v", got)
	}
	synced := func(but string) func(string) bool { return func(id string) bool { return id != but } }
	all := func(ring.Range) bool { return true }
	for _, c := range []struct {
		of                 func(ring.Range) bool
		but                string
		primaries, backups int
	}{
		{all, "", 1, 1},
		{all, "c", 1, 1},
		{all, "a", 0, 0},
		{func(r ring.Range) bool { return r.Start == 0 }, "", 1, 2},
	} {
		if primaries, backups := Synced(old, c.of, synced(c.but)); primaries != c.primaries || backups != c.backups {
			t.Errorf("all but %q: %d, %d, want %d, %d", c.but, primaries, backups, c.primaries, c.backups)
		}
	}
}
