package client

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkForward sends batches from 50 goroutines to an echo over loopback. An
// operation is a batch.
func BenchmarkForward(b *testing.B) {
	for _, size := range []int{1, 16} {
		for _, way := range []struct {
			name string
			dial func(*farEnd) dialFunc
		}{
			{"tcp", func(f *farEnd) dialFunc { return f.tcp() }},
			{"bus", func(f *farEnd) dialFunc { return f.overBus(nil) }},
			{"sealed", func(f *farEnd) dialFunc { return f.overBus(busKey) }},
		} {
			b.Run(fmt.Sprintf("commands=%d/%s", size, way.name), func(b *testing.B) { benchForward(b, size, 0, way.dial) })
		}
		b.Run(fmt.Sprintf("commands=%d/timeout", size), func(b *testing.B) {
			benchForward(b, size, 5*time.Second, func(f *farEnd) dialFunc { return f.tcp() })
		})
	}
}

type dialFunc = func(context.Context) (net.Conn, error)

func benchForward(b *testing.B, size int, timeout time.Duration, dial func(*farEnd) dialFunc) {
	const goroutines = 50
	lens := sync.Pool{New: func() any { return new([]uint32) }}
	f := newFarEnd(b, func(batch *Batch) {
		l := lens.Get().(*[]uint32)
		for len(*l) < batch.N {
			*l = append(*l, 0)
		}
		echoInto(batch, (*l)[:batch.N])
		lens.Put(l)
	})
	p := newTestPeer(b, PeerConfig{Dial: dial(f)})
	commands := bytes.Repeat([]byte("*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000000\r\n"), size)
	var left atomic.Int64
	run := func(n int) {
		left.Store(int64(n))
		var wg sync.WaitGroup
		for lane := range goroutines {
			wg.Go(func() {
				c := Call{Commands: commands, N: size, Lane: uint32(lane), Timeout: timeout}
				for left.Add(-1) >= 0 {
					if p.Send(&c) != nil || c.Wait() != nil || len(c.Reply) != len(commands) {
						b.Error("a call failed", c.Err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	run(1000)
	b.ReportAllocs()
	b.ResetTimer()
	run(b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "commands/s")
}
