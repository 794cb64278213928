package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// fill gives a store keys with random values of some size, in units of 64.
func (s *Store) fill(b testing.TB, keys, size int) {
	u := s.NewUnit()
	random := rand.NewChaCha8([32]byte{})
	value := make([]byte, size)
	names := make([][]byte, 64)
	for i := 0; i < keys; i += len(names) {
		places := make([]Place, len(names))
		for j := range names {
			names[j] = fmt.Appendf(nil, "key:%012d", i+j)
			places[j] = u.Place(names[j])
		}
		u.Begin(s.now(), places)
		for _, key := range names {
			_, _ = random.Read(value[:size/2])
			copy(value[size/2:], bytes.Repeat([]byte("abcdefgh"), size/16+1))
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
}

// BenchmarkCopy moves values from one store to an empty one, chunk by chunk: what is read
// next is read while what was read is applied.
func BenchmarkCopy(b *testing.B) {
	for _, size := range []int{64, 1 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchCopy(b, 96<<20/(size+64), size) })
	}
}

func benchCopy(b *testing.B, keys, size int) {
	open := func() *Store {
		s, err := Open(testConfig(b.TempDir()))
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	src := open()
	defer func() { _ = src.Close() }()
	src.fill(b, keys, size)
	_ = src.flushTables()
	l, _ := src.RangeLoad(ring.Whole)
	b.SetBytes(l.Bytes)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		dst := open()
		b.StartTimer()
		benchCopyOnce(b, src, dst)
		if got, _ := dst.RangeLoad(ring.Whole); got.Keys != l.Keys || got.Bytes != l.Bytes {
			b.Fatalf("%+v has arrived as %+v", l, got)
		}
		b.StopTimer()
		_ = dst.Close()
		b.StartTimer()
	}
	b.ReportMetric(0, "ns/op")
}

func benchCopyOnce(b *testing.B, src, dst *Store) {
	c, err := src.NewCopy(ring.Whole, nil)
	if err != nil {
		b.Fatal(err)
	}
	batches := make(chan []byte, 16)
	applied := make(chan error)
	go func() {
		rc := dst.NewReceiver(ring.Whole)
		defer rc.Close()
		var done Signal
		var err error
		for batch := range batches {
			if err == nil {
				_, err = rc.Apply(batch, nil)
			}
		}
		if err == nil && dst.AwaitAll(&done) {
			err = done.Wait()
		}
		applied <- err
	}()
	for !c.Done() {
		if err := c.Chunk(ChunkSize, nil, func(batch []byte, _ Position) { batches <- batch }); err != nil {
			b.Fatal(err)
		}
	}
	close(batches)
	if err := <-applied; err != nil {
		b.Fatal(err)
	}
}
