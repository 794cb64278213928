package collection

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// ranged returns elements of a list as LRANGE reads them, and whether the cache had them. Each
// within runs once the header has been read, before the elements are.
func ranged(t *testing.T, u *store.Unit, l *List, from, to int64, within ...func()) (all []string, quick bool) {
	t.Helper()
	near, err := l.OpenRange(u, []byte("k"), func(n int64) (int64, int64) {
		for _, f := range within {
			f()
		}
		return from, min(to, n-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if near != nil {
		for i := range near.Len() {
			all = append(all, string(near.At(i)))
		}
		return all, true
	}
	if err := l.Range(from, to, false, func(_ int64, e []byte) bool {
		all = append(all, string(e))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all, false
}

// pushed has a list of so many elements.
func pushed(t *testing.T, u *store.Unit, n int, element func(i int) []byte) {
	t.Helper()
	var l List
	if err := l.Open(u, []byte("k")); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := l.Push(false, element(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// A writer changes three elements together; a reader must see all three from the same change,
// whether the elements are in the cache or not. Writer and reader take turns, so that neither
// waits for a hot partner: of three reads, one runs beside a write, one has a write between its
// two looks at the list (and must not be answered from the cache), and one follows a write.
func TestRangesAreOfOneMoment(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		t.Run(fmt.Sprint("chunks ", chunks), func(t *testing.T) { rangesOfOneMoment(t, chunks) })
	}
}

func rangesOfOneMoment(t *testing.T, chunks bool) {
	s := open(t, vfs.NewMem())
	in(t, s, func(u *store.Unit) {
		l := List{Chunks: chunks}
		if err := l.Open(u, []byte("k")); err != nil {
			t.Fatal(err)
		}
		if err := l.Push(false, slices.Repeat([][]byte{[]byte("0")}, 100)...); err != nil {
			t.Fatal(err)
		}
	}, "k")
	ask, written := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(written)
		n := 0
		for range ask {
			n++
			in(t, s, func(u *store.Unit) {
				var l List
				if err := l.Open(u, []byte("k")); err != nil {
					t.Error(err)
				}
				for _, i := range []int64{90, 10, 50} {
					if err := l.Set(i, fmt.Append(nil, n)); err != nil {
						t.Error(err)
					}
				}
			}, "k")
			written <- struct{}{}
		}
	}()
	defer func() {
		close(ask)
		for range written {
		}
	}()
	write := func() {
		ask <- struct{}{}
		<-written
	}
	var l List
	last := 0
	for i := range rounds(3000) {
		beside, between := i%3 == 0, i%3 == 1
		if beside {
			ask <- struct{}{}
		} else if !between {
			write()
		}
		in(t, s, func(u *store.Unit) {
			within := func() {}
			if between {
				within = write
			}
			all, quick := ranged(t, u, &l, 10, 90, within)
			n := 0
			if _, err := fmt.Sscan(all[0], &n); err != nil || n < last || len(all) != 81 || all[0] != all[40] || all[0] != all[80] {
				t.Fatalf("%v after %d: %v", all, last, err)
			}
			if last = n; !beside && quick == between {
				t.Fatalf("read %d, written to meanwhile: %v, was answered from the cache: %v", i, between, quick)
			}
		})
		if beside {
			<-written
		}
	}
}

func TestRangesInOneUnit(t *testing.T) {
	s := open(t, vfs.NewMem())
	in(t, s, func(u *store.Unit) {
		pushed(t, u, 10, func(i int) []byte { return fmt.Append(nil, i) })
		if all, near := ranged(t, u, &List{}, 8, 9); near || fmt.Sprint(all) != "[8 9]" {
			t.Errorf("the unit's own, before they are written: %v, %v", all, near)
		}
	}, "k")
	in(t, s, func(u *store.Unit) {
		var l List
		_ = l.Open(u, []byte("k"))
		if err := l.Set(9, make([]byte, 20<<10)); err != nil { // has no line
			t.Fatal(err)
		}
		if err := l.Set(1, []byte("one")); err != nil {
			t.Fatal(err)
		}
		if all, _ := ranged(t, u, &List{}, 0, 1); fmt.Sprint(all) != "[0 one]" {
			t.Errorf("the unit's own: %v", all)
		}
	}, "k")
	in(t, s, func(u *store.Unit) {
		var l List
		if all, near := ranged(t, u, &l, 0, 1); !near || fmt.Sprint(all) != "[0 one]" {
			t.Errorf("at hand: %v, %v", all, near)
		}
		if all, near := ranged(t, u, &l, 8, 9); near || len(all) != 2 || all[0] != "8" {
			t.Errorf("not at hand: %v, %v", all[:1], near)
		}
		in(t, s, func(u *store.Unit) { pushed(t, u, 1, func(int) []byte { return []byte("later") }) }, "k")
		for range 2 { // never what is later, and then what was before
			if all, _ := ranged(t, u, &l, 0, 100); len(all) != 10 {
				t.Errorf("%d elements", len(all))
			}
			if all, _ := ranged(t, u, &l, 0, 1); fmt.Sprint(all) != "[0 one]" || l.Len() != 10 {
				t.Errorf("%v of %d", all, l.Len())
			}
		}
	})
}

func TestRangesThatAreNotAtHand(t *testing.T) {
	s := open(t, vfs.NewMem())
	large := make([]byte, 20<<10) // has no line
	in(t, s, func(u *store.Unit) {
		for name, elements := range map[string][][]byte{
			"packed": {[]byte("a")}, "large": {[]byte("a"), large}, "many": make([][]byte, 2000),
		} {
			var l List
			if name == "packed" {
				l.MaxPacked = 100
			}
			if err := l.Open(u, []byte(name)); err != nil {
				t.Fatal(err)
			}
			for _, e := range elements {
				if err := l.Push(false, e); err != nil {
					t.Fatal(err)
				}
			}
		}
		var tb Table
		if err := tb.Open(u, []byte("hash"), store.Hash); err != nil {
			t.Fatal(err)
		}
		if _, err := tb.Set([]byte("f"), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}, "packed", "large", "many", "hash")
	whole := func(n int64) (int64, int64) { return 0, n - 1 }
	none := func(n int64) (int64, int64) { return n, n - 1 }
	in(t, s, func(u *store.Unit) {
		for _, name := range []string{"packed", "large", "many", "absent"} {
			for _, bounds := range []func(int64) (int64, int64){whole, none} {
				var l List
				near, err := l.OpenRange(u, []byte(name), bounds)
				if near != nil || err != nil {
					t.Errorf("%s: %v, %v", name, near, err)
				}
				n := int64(0)
				if err := l.Range(0, l.Len(), false, func(int64, []byte) bool { n++; return true }); err != nil || n != l.Len() {
					t.Errorf("%s: %d of %d, %v", name, n, l.Len(), err)
				}
			}
		}
		var l List
		if _, err := l.OpenRange(u, []byte("hash"), whole); err != ErrType {
			t.Errorf("a hash: %v", err)
		}
	})
	in(t, s, func(u *store.Unit) {
		var l List
		near, err := l.OpenRange(u, []byte("many"), func(int64) (int64, int64) { return 1000, 1999 })
		if err != nil || near == nil || near.Len() != 1000 || len(near.At(999)) != 0 {
			t.Errorf("half of many: %v, %v", near, err)
		}
	})
}
