package collection

import (
	"fmt"
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// Whatever comes and goes meanwhile, a pop returns a member that is there, until there is
// none.
func TestPopsEmptyATable(t *testing.T) {
	s := open(t, vfs.NewMem())
	var d Draws
	model := map[string]bool{}
	at := 0
	set := func(tb *Table, n int) {
		for range n {
			at++
			member := fmt.Sprint("member", at)
			if _, err := tb.Set([]byte(member), nil); err != nil {
				t.Fatal(err)
			}
			model[member] = true
		}
	}
	for round := 0; round == 0 || len(model) > 0; round++ {
		in(t, s, func(u *store.Unit) {
			var tb Table
			if err := tb.Open(u, []byte("k"), store.Set); err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				set(&tb, 1000)
			}
			if round < 20 {
				set(&tb, 10)
				for member := range maps.Clone(model) { // any
					if _, err := tb.Delete([]byte(member)); err != nil {
						t.Fatal(err)
					}
					delete(model, member)
					break
				}
			}
			for range 30 {
				member, ok, err := tb.Pop(&d)
				if err != nil || ok != (len(model) > 0) || ok && !model[string(member)] {
					t.Fatalf("%q, %v, %v of %d", member, ok, err, len(model))
				}
				delete(model, string(member))
			}
		}, "k")
	}
	if len(d.byKey) > 0 {
		t.Error("a key that is gone is remembered")
	}
}

// Which member comes first is not the same each time, nor are few of them preferred.
func TestPopsAreRandom(t *testing.T) {
	s := open(t, vfs.NewMem())
	fill(t, s, "k", 1000, 0)
	first := map[string]int{}
	const times = 300
	for range times {
		u := s.NewUnit()
		u.Begin(1000, []store.Place{u.Place([]byte("k"))})
		var tb Table
		var d Draws
		if err := tb.Open(u, []byte("k"), store.Set); err != nil {
			t.Fatal(err)
		}
		member, ok, err := tb.Pop(&d)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		first[string(member)]++
		u.Abort()
	}
	// Of 1,000 members drawn 300 times all alike about 259 different ones come.
	if len(first) < 200 {
		t.Errorf("only %d different members came first in %d pops", len(first), times)
	}
}

// However many keys members are popped from, few are remembered.
func TestDrawsAreBounded(t *testing.T) {
	var d Draws
	for i := range 3 * maxDraws {
		d.of(fmt.Append(nil, i))
	}
	if n := len(d.byKey); n > maxDraws {
		t.Errorf("%d keys are remembered", n)
	}
}
