package bus

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/ringside-kv/ringside/internal/certtest"
)

type benchKind struct {
	name string
	key  []byte
	tls  *TLS
}

func benchKinds(b *testing.B) []benchKind {
	cluster := certtest.New(b, "cluster")
	return []benchKind{{"plain", nil, nil}, {"sealed", testKey, nil}, {"tls", nil, testTLS(cluster.Pair(b, "a"), cluster)}}
}

// BenchmarkStream sends one way over loopback, in writes of a size.
func BenchmarkStream(b *testing.B) {
	for _, kind := range benchKinds(b) {
		for _, size := range []int{512, 16 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, size), func(b *testing.B) {
				cfg := testConfig("b")
				cfg.Key, cfg.TLS = kind.key, kind.tls
				far := startBus(b, cfg)
				done := make(chan struct{})
				far.Handle(Control, func(_ Peer, conn net.Conn) {
					defer close(done)
					defer conn.Close()
					_, _ = io.Copy(io.Discard, struct{ io.Reader }{conn})
				})
				cfg.ID = "a"
				conn, _, err := startBus(b, cfg).Dial(b.Context(), far.Addr().String(), "", Control)
				if err != nil {
					b.Fatal(err)
				}
				buf := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := conn.Write(buf); err != nil {
						b.Fatal(err)
					}
				}
				_ = conn.Close()
				<-done
			})
		}
	}
}

// BenchmarkHandshake is a connection from the dial to the welcome.
func BenchmarkHandshake(b *testing.B) {
	for _, kind := range benchKinds(b) {
		b.Run(kind.name, func(b *testing.B) {
			cfg := testConfig("b")
			cfg.Key, cfg.TLS = kind.key, kind.tls
			far := startBus(b, cfg)
			cfg.ID = "a"
			near := startBus(b, cfg)
			for b.Loop() {
				conn, _, err := near.Dial(b.Context(), far.Addr().String(), "b", Stream)
				if err != nil {
					b.Fatal(err)
				}
				_ = conn.Close()
			}
		})
	}
}
