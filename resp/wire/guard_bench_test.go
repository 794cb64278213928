package wire

import "testing"

// BenchmarkNext parses a pipeline of requests that are there as a whole.
func BenchmarkNext(b *testing.B) {
	var pipeline []byte
	for range 16 {
		pipeline = AppendRequest(pipeline, "SET", "key:000000000001", "0123456789012345678901234567890123456789012345678901234567890123")
	}
	lim := Limits{Args: 1 << 20, Bulk: 512 << 20, Authed: true}
	args := make([][]byte, 0, 64)
	g := NewGuard()
	b.ReportAllocs()
	for b.Loop() {
		args = args[:0]
		for start := 0; start < len(pipeline); {
			n, next, err := g.Next(pipeline[start:], &lim, args)
			if n == 0 || err != nil {
				b.Fatal(n, err)
			}
			start, args = start+n, next
		}
	}
}
