package collection

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/store"
)

// BenchmarkZSet gives any of a million members any score, and then takes the first ones, in
// units of sixteen, as pipelines do. One operation is one member.
func BenchmarkZSet(b *testing.B) {
	s, err := store.Open(store.Config{
		Dir: b.TempDir(), Strategy: "buckets", Hash: "native", Token: token, Fsync: store.FsyncNo, Cache: 256 << 20,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	key, rnd := []byte("myzset"), rand.New(rand.NewPCG(1, 1))
	var member []byte
	u := s.NewUnit()
	var z ZSet
	z.Limit(DefaultPacked)
	each := func(b *testing.B, change func() error) {
		b.ReportAllocs()
		for i := 0; i < b.N; i += 16 {
			u.Begin(1, []store.Place{u.Place(key)})
			for range 16 {
				if err := z.Open(u, key); err != nil {
					b.Fatal(err)
				}
				if err := change(); err != nil {
					b.Fatal(err)
				}
				if err := z.Flush(); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := u.Commit(nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("set", func(b *testing.B) {
		each(b, func() error {
			member = fmt.Appendf(member[:0], "element:%012d", rnd.IntN(1000000))
			return z.Set(member, float64(rnd.IntN(1000000)))
		})
	})
	b.Run("pop", func(b *testing.B) {
		each(b, func() error { return z.Pop(1, false, func([]byte, float64) {}) })
	})
}
