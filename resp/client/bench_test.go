package client

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkForward sends batches from 50 goroutines to an echo over loopback. An
// operation is a batch.
func BenchmarkForward(b *testing.B) {
	for _, size := range []int{1, 16} {
		b.Run(fmt.Sprintf("commands=%d", size), func(b *testing.B) { benchForward(b, size, 0, false) })
		b.Run(fmt.Sprintf("commands=%d/timeout", size), func(b *testing.B) { benchForward(b, size, 5*time.Second, false) })
		// As over a connection that seals what it sends, but for the sealing.
		b.Run(fmt.Sprintf("commands=%d/indirect", size), func(b *testing.B) { benchForward(b, size, 5*time.Second, true) })
	}
}

func benchForward(b *testing.B, size int, timeout time.Duration, indirect bool) {
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
	f.indirect = indirect
	p := newTestPeer(b, PeerConfig{Dial: f.tcp()})
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
