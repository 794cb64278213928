package collection

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// Trims of a long stream reach from one end to the other, by ranges.
func TestLongStreamsAreTrimmed(t *testing.T) {
	s := open(t, vfs.NewMem())
	const n = 5000
	for _, trim := range []Trim{
		{MaxLen: n - 1}, {MaxLen: n - 100}, {MaxLen: 10}, {MaxLen: 0}, {MaxLen: n},
		{MaxLen: -1, MinID: ID{1, 0}}, {MaxLen: -1, MinID: ID{20, 0}}, {MaxLen: -1, MinID: ID{n / 2, 5}},
		{MaxLen: -1, MinID: ID{n - 10, 1}}, {MaxLen: -1, MinID: ID{n, 0}}, {MaxLen: -1, MinID: ID{n + 1, 0}},
		{MaxLen: -1, MinID: ID{n / 2, 0}, Limit: 1000}, {MaxLen: -1, MinID: ID{n - 5, 0}, Limit: 1000},
		{MaxLen: 7, Approx: true, Limit: 999},
	} {
		kept, size := int64(0), int64(0)
		for i := 1; i <= n; i++ {
			gone := int64(i) <= n-trim.MaxLen && trim.MaxLen >= 0 || trim.MaxLen < 0 && (ID{uint64(i), 0}).Compare(trim.MinID) < 0
			if trim.Limit > 0 && int64(i) > trim.Limit-trim.Limit%TrimNode {
				gone = false
			}
			if !gone {
				kept++
				size += idSize + 4 + int64(i%7)
			}
		}
		in(t, s, func(u *store.Unit) {
			var st Stream
			v, _ := u.Get([]byte("s"))
			u.Delete([]byte("s"), v)
			if err := st.Open(u, []byte("s")); err != nil {
				t.Fatal(err)
			}
			for i := 1; i <= n; i++ {
				if err := st.Add(ID{uint64(i), 0}, [][]byte{[]byte("f"), make([]byte, i%7)}); err != nil {
					t.Fatal(err)
				}
			}
		}, "s")
		in(t, s, func(u *store.Unit) {
			var st Stream
			if err := st.Open(u, []byte("s")); err != nil {
				t.Fatal(err)
			}
			if got, err := st.Trim(trim); err != nil || got != n-kept {
				t.Fatalf("%+v: %d, %v, want %d", trim, got, err, n-kept)
			}
			if id, err := st.edge(false); err != nil || id != st.First || st.Len() != kept || st.v.Size != size {
				t.Fatalf("%+v: %v, first %v, said to be %v, %d entries of %d bytes, want %d of %d", trim, err, id, st.First, st.Len(), st.v.Size, kept, size)
			}
		}, "s")
	}
}
