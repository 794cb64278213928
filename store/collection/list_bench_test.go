package collection

import (
	"testing"

	"github.com/ringside-kv/ringside/store"
)

// BenchmarkEnds pushes elements and then pops them, in units of sixteen, as pipelines do. One
// operation is one element.
func BenchmarkEnds(b *testing.B) {
	for name, front := range map[string]bool{"front": true, "back": false} {
		b.Run(name, func(b *testing.B) {
			s, err := store.Open(store.Config{
				Dir: b.TempDir(), Strategy: "buckets", Hash: "native", Token: token, Fsync: store.FsyncNo, Cache: 64 << 20,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			key, element := []byte("mylist"), []byte("abc")
			u := s.NewUnit()
			var l List
			l.MaxPacked = DefaultPacked
			each := func(b *testing.B, change func() error) {
				for i := 0; i < b.N; i += 16 {
					u.Begin(1, []store.Place{u.Place(key)})
					for range 16 {
						if err := l.Open(u, key); err != nil {
							b.Fatal(err)
						}
						if err := change(); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := u.Commit(nil); err != nil {
						b.Fatal(err)
					}
				}
			}
			push := func() error { return l.Push(front, element) }
			b.Run("push", func(b *testing.B) {
				b.ReportAllocs()
				each(b, push)
			})
			b.Run("pop", func(b *testing.B) {
				b.ReportAllocs()
				each(b, push) // so that there are enough
				b.ResetTimer()
				each(b, func() error { _, _, err := l.Pop(front); return err })
			})
		})
	}
}
