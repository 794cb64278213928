package collection

import (
	"testing"

	"github.com/ringside-kv/ringside/store"
)

// BenchmarkPush pushes elements in units of sixteen, as pipelines do.
func BenchmarkPush(b *testing.B) {
	for _, front := range []bool{true, false} {
		b.Run(map[bool]string{true: "front", false: "back"}[front], func(b *testing.B) {
			s, err := store.Open(store.Config{Dir: b.TempDir(), Strategy: "buckets", Hash: "native", Token: token, Fsync: store.FsyncNo, Cache: 64 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			key, element := []byte("mylist"), []byte("abc")
			u := s.NewUnit()
			var l List
			l.MaxPacked = DefaultPacked
			b.ReportAllocs()
			for i := 0; i < b.N; i += 16 {
				u.Begin(1, []store.Place{u.Place(key)})
				for range 16 {
					if err := l.Open(u, key); err != nil {
						b.Fatal(err)
					}
					if err := l.Push(element, front); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := u.Commit(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
