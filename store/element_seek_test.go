package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Whoever seeks finds the first element from there on, as they were when he began, and goes
// on behind it, whatever the unit has changed before and changes meanwhile.
func TestElementsAreSoughtForward(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	key := []byte("k")
	name := func(i int) string { return fmt.Sprintf("%03d", i) }
	model := map[string]string{name(0): "0"}
	s.inUnit(t, func(u *Unit) { splitSet(t, u, "k", model) }, "k")
	change := func(u *Unit, v *Value) {
		switch i := rnd.IntN(200); rnd.IntN(8) {
		case 0, 1, 2:
			delete(model, name(i))
			u.RemoveElement(key, v, []byte(name(i)))
		case 3:
			for j := i; j < i+5; j++ {
				delete(model, name(j))
			}
			u.RemoveElements(key, v, []byte(name(i)), []byte(name(i+5)))
		default:
			model[name(i)] = fmt.Sprint(rnd.IntN(1000))
			u.SetElement(key, v, []byte(name(i)), []byte(model[name(i)]))
		}
	}
	seek := func(u *Unit, v *Value, meanwhile func()) {
		t.Helper()
		var all []string
		for k, value := range model {
			all = append(all, k+"="+value)
		}
		slices.Sort(all)
		from, to := rnd.IntN(50), 150+rnd.IntN(50)
		it := u.Elements(key, v, []byte(name(from)), []byte(name(to)), false)
		for at := rnd.IntN(80); at < 210; at += 1 + rnd.IntN(30) {
			i, _ := slices.BinarySearch(all, name(max(at, from)))
			ok := it.Seek([]byte(name(at)))
			for left := rnd.IntN(3); ; left-- {
				want, got := "", ""
				if i < len(all) && all[i] < name(to) {
					want = all[i]
				}
				if ok {
					got = string(it.Sub()) + "=" + string(it.Value())
				}
				if got != want {
					t.Fatalf("from %d: %q, want %q", at, got, want)
				}
				if ok {
					fmt.Sscanf(got, "%03d", &at)
					i++
					meanwhile()
				}
				if !ok || left == 0 {
					break
				}
				ok = it.Next()
			}
			if !ok {
				break
			}
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range rounds(300) {
		s.inUnit(t, func(u *Unit) {
			v, err := u.Get(key)
			if err != nil {
				t.Fatal(err)
			}
			for range rnd.IntN(40) {
				change(u, &v)
				if rnd.IntN(8) == 0 {
					seek(u, &v, func() { change(u, &v) })
				}
			}
		}, "k")
		s.inUnit(t, func(u *Unit) {
			v, err := u.GetWhole(key)
			if err != nil {
				t.Fatal(err)
			}
			seek(u, &v, func() {})
		})
	}
}
