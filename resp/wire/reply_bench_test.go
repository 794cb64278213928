package wire

import (
	"bytes"
	"testing"
)

// BenchmarkReplies reads the replies of a pipeline: a status, a string, a small array, a number.
func BenchmarkReplies(b *testing.B) {
	stream := bytes.Repeat([]byte("+OK\r\n$5\r\nhello\r\n*2\r\n$1\r\na\r\n$-1\r\n:12\r\n"), 1000)
	src := bytes.NewReader(stream)
	r := NewReplyReader(src)
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(stream)
		for r.Fill() == nil {
			for p, _ := r.Next(); p != nil; p, _ = r.Next() {
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4000, "ns/reply")
}
