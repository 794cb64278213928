package collection

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// A change within a list of large elements takes memory for a few of them, not for all that lie on one side.
func TestChangesOfListsOfLargeElementsTakeLittleMemory(t *testing.T) {
	oneGoroutine(t)
	const n, large = 80, 64 << 10
	for _, chunks := range []bool{false, true} {
		t.Run(fmt.Sprint("chunks ", chunks), func(t *testing.T) {
			s := open(t, vfs.NewMem())
			change := func(f func(l *List) error) {
				t.Helper()
				in(t, s, func(u *store.Unit) {
					l := List{Chunks: chunks, shiftMost: 32 * large}
					if err := l.Open(u, []byte("k")); err != nil {
						t.Fatal(err)
					}
					if err := f(&l); err != nil {
						t.Fatal(err)
					}
				}, "k")
			}
			var model [][]byte
			for i := range n {
				model = append(model, bytes.Repeat([]byte{byte(i)}, large))
				change(func(l *List) error { return l.Push(false, model[i]) })
			}
			for _, c := range []struct {
				name     string
				change   func(l *List) error
				from, to int // of the model, that stay
			}{
				{"insertion", func(l *List) error { return l.Insert(n/2, []byte("new")) }, 0, 80},
				{"removal", func(l *List) error { return l.Remove([]int64{n / 2}) }, 0, 80},
				{"cut of few", func(l *List) error { return l.Trim(8, l.Len()-1) }, 8, 80},
				{"cut of some", func(l *List) error { return l.Trim(0, l.Len()-17) }, 8, 64},
				{"cut at both ends", func(l *List) error { return l.Trim(3, l.Len()-4) }, 11, 61},
				{"replacement", func(l *List) error { return l.Set(5, model[16]) }, 11, 61},
			} {
				change(func(l *List) error {
					err := c.change(l)
					if size := l.unit.Size(); size > 5*large {
						t.Errorf("%s: the unit takes %d KiB", c.name, size>>10)
					}
					return err
				})
				change(func(l *List) error {
					want, size := model[c.from:c.to], int64(0)
					return l.Range(0, n, false, func(i int64, e []byte) bool {
						if size += int64(len(e)); c.name == "insertion" && i >= n/2 {
							i--
						}
						if len(e) == large && !bytes.Equal(e, want[i]) || i == l.Len()-1 && size != l.v.Size {
							t.Errorf("%s: element %d begins with %.9q, %d bytes of %d", c.name, i, e, size, l.v.Size)
						}
						return true
					})
				})
			}
		})
	}
}
