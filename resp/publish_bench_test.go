package resp

import (
	"bytes"
	"io"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// BenchmarkPublish sends messages to 50 subscribers, 16 in a pipeline.
func BenchmarkPublish(b *testing.B) {
	_, addr := serveTest(b, nil)
	for range 50 {
		o := resptest.Dial(b, addr, 2)
		o.Do("SUBSCRIBE", "channel")
		go func() { _, _ = io.Copy(io.Discard, o.C) }()
	}
	o := resptest.Dial(b, addr, 2)
	request := bytes.Repeat(wire.AppendRequest(nil, "PUBLISH", "channel", "message"), 16)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%16 != 0 {
			continue
		}
		if _, err := o.C.Write(request); err != nil {
			b.Fatal(err)
		}
		for range 16 {
			if v, err := o.Read(); err != nil || v.Text != "50" {
				b.Fatal(v, err)
			}
		}
	}
}
