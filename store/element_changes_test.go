package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Of many changes the last of each key is found, in order, whenever it is asked for.
func TestLastChangesAreInOrder(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var cs elementChanges
	for range 3 {
		model := map[string]string{}
		for n := range 3000 {
			key, value := fmt.Sprintf("%04d", rnd.IntN(1000)), fmt.Sprint(n)
			cs.add(elementChange{key: []byte(key), value: []byte(value)})
			model[key] = value
			if rnd.IntN(1+n/400) > 2 {
				continue
			}
			from := rnd.IntN(1000)
			lower, upper := fmt.Sprintf("%04d", from), fmt.Sprintf("%04d", from+rnd.IntN(100))
			var want, got []string
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if k >= lower && k < upper {
					want = append(want, k+model[k])
				}
			}
			for _, c := range cs.within([]byte(lower), []byte(upper)) {
				got = append(got, string(c.key)+string(c.value))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %s to %s: %v, want %v", lower, upper, got, want)
			}
		}
		cs.forget()
	}
}

// What a unit changes from the last element to the first is in its batch from the first to the
// last: a memtable searches for the place of all that does not follow the key before.
func TestElementsThatComeBackwardsAreTurnedRound(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.Close()
	for _, test := range [][2]string{{"cba", "abc"}, {"abc", "abc"}, {"bca", "bca"}, {"cbb", "cbb"}} {
		s.inUnit(t, func(u *Unit) {
			splitSet(t, u, "k", nil)
			v, err := u.Get([]byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []byte(test[0]) {
				u.SetElement([]byte("k"), &v, []byte{c}, nil)
			}
			u.LeaveElement([]byte("k"), &v, []byte("A"))
			before := u.batch.Reader()
			u.writeElements()
			after := u.batch.Reader()
			var got []byte
			for r := after[len(before):]; len(r) > 0; {
				_, key, _, ok, err := r.Next()
				if !ok || err != nil {
					t.Fatal(err)
				}
				got = append(got, key[len(key)-1])
			}
			if string(got) != test[1] {
				t.Errorf("%s is written as %s, want %s", test[0], got, test[1])
			}
		}, "k")
	}
}
