package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

const benchKeys = 1 << 20

func benchStore(b *testing.B, cache int64) (*Store, [][]byte) {
	b.Helper()
	cfg := testConfig(b.TempDir())
	cfg.Cache = cache
	s, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	keys := make([][]byte, benchKeys)
	value := bytes.Repeat([]byte("x"), 64)
	u := s.NewUnit()
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%012d", i)
	}
	for i := 0; i < len(keys); i += 256 {
		benchSet(b, u, keys[i:i+256], value)
	}
	return s, keys
}

func benchSet(b *testing.B, u *Unit, keys [][]byte, value []byte) {
	places := make([]Place, len(keys))
	for i := range keys {
		places[i] = u.Place(keys[i])
	}
	u.Begin(u.s.now(), places)
	for _, key := range keys {
		v, err := u.Get(key)
		if err == nil {
			err = u.PutString(key, v, value, 0, false)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if _, err := u.Commit(nil); err != nil {
		b.Fatal(err)
	}
}

// One operation is a SET, in units of 16 on random keys.
func BenchmarkSet16(b *testing.B) {
	s, keys := benchStore(b, 256<<20)
	u := s.NewUnit()
	value := bytes.Repeat([]byte("y"), 64)
	batch := make([][]byte, 16)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += 16 {
		for j := range batch {
			batch[j] = keys[rand.IntN(benchKeys)]
		}
		benchSet(b, u, batch, value)
	}
}

func benchGet(b *testing.B, cache int64) {
	s, keys := benchStore(b, cache)
	u := s.NewUnit()
	b.ReportAllocs()
	for b.Loop() {
		u.Begin(0, nil)
		if v, err := u.Get(keys[rand.IntN(benchKeys)]); err != nil || !v.Exists() {
			b.Fatal(err, v)
		}
		u.Abort()
	}
}

func BenchmarkGetCached(b *testing.B)   { benchGet(b, 256<<20) }
func BenchmarkGetUncached(b *testing.B) { benchGet(b, 0) }
