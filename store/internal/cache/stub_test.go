package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// overwritten fills a cache with four times as many bytes as it takes, in values of 1 KiB, and
// replaces values n times. It returns in how many of these the cache did not know the old header.
func overwritten(tb testing.TB, size, n int) (misses int) {
	c, err := New(int64(size))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	keys := make([][]byte, size/256)
	line := (&layout.Header{Type: layout.String, Value: make([]byte, 1<<10)}).Append(nil)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%012d", i)
		c.Put(layout.PlaceOf(testToken, keys[i]), keys[i], line)
	}
	if b, ok := tb.(*testing.B); ok {
		b.ResetTimer()
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var head []byte
	for range n {
		key := keys[rnd.IntN(len(keys))]
		place := layout.PlaceOf(testToken, key)
		answer := Miss
		if head, _, answer = c.Head(place, key, head[:0]); answer == Miss {
			misses++
		}
		c.Put(place, key, line)
	}
	return misses
}

// Where a quarter of the values fits, stubs of all others do: nothing is read to replace a value.
func TestStubsOfAllOtherValuesFit(t *testing.T) {
	const n = 100_000
	if misses := overwritten(t, 8<<20, n); misses > n/100 {
		t.Errorf("%d of %d headers were neither in lines nor in stubs", misses, n)
	}
}

// BenchmarkOverwrite replaces values of 1 KiB, of which a quarter fits.
func BenchmarkOverwrite(b *testing.B) {
	b.ReportMetric(float64(overwritten(b, 256<<20, b.N))/float64(b.N), "misses/op")
}
