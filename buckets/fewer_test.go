package buckets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// However unevenly copies lie, it is found out where fewer of them should.
func TestFewerCopiesAreWantedOfAnyPlacement(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 50
	}
	for range runs {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 3))
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		var members []ring.Member
		for i := range 2 + rnd.IntN(5) {
			members = append(members, ring.Member{ID: fmt.Sprint("n", i), Weight: 1})
		}
		first, err := s.Desired(ring.Input{Members: members})
		if err != nil {
			t.Fatal(err)
		}
		var rows []ring.Row
		skew := rnd.IntN(3)
		for row := range first.Rows() {
			at := rnd.Perm(len(members))
			if skew > 0 && rnd.IntN(skew+1) > 0 { // the first have more
				at = rnd.Perm(min(2, len(members)))
			}
			next := ring.Row{Range: row.Range, Epoch: 1, Primary: members[at[0]].ID}
			for _, b := range at[1:min(len(at), 1+rnd.IntN(3))] {
				next.Backups = append(next.Backups, members[b].ID)
			}
			rows = append(rows, next)
		}
		present, err := ring.NewPlacement(rows)
		if err != nil {
			t.Fatal(err)
		}
		in := ring.Input{Members: members[:1+rnd.IntN(len(members))], Backups: rnd.IntN(3), Present: present}
		desired, err := s.Desired(in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		held := map[string]int{}
		for row := range desired.Rows() {
			for m := range row.Copies() {
				held[m]++
			}
			if 1+len(row.Backups) != in.Copies() {
				t.Fatalf("seed %d: %v has %d copies, want %d", seed, row.Range, 1+len(row.Backups), in.Copies())
			}
		}
		least, most := 1<<30, 0
		for _, m := range in.Members {
			least, most = min(least, held[m.ID]), max(most, held[m.ID])
		}
		if most-least > 1 {
			t.Errorf("seed %d: %v", seed, held)
		}
	}
}
