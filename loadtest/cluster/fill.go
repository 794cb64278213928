package cluster

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
)

// FillKey is the i-th of the keys that [WriteKeys] writes.
func FillKey(i int) []byte { return fmt.Appendf(nil, "key:%010d", i) }

// FillValue fills b with what differs from call to call, and does not compress.
func FillValue(rnd *rand.Rand, b []byte) []byte {
	for i := 0; i < len(b); i += 8 {
		n := rnd.Uint64()
		for j := i; j < min(i+8, len(b)); j++ {
			b[j] = byte(n)
			n >>= 8
		}
	}
	return b
}

// batch is how many SETs are under way at a time on a connection.
const batch = 256

// FillKeys writes keys 0 to keys-1 with values of size bytes, by conns connections at a time,
// which take the addresses in turn.
func FillKeys(ctx context.Context, addrs []string, keys, size, conns int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for part := range conns {
		all.Go(func() {
			own := func(yield func(int) bool) {
				for i := part * keys / conns; i < (part+1)*keys/conns && yield(i); i++ {
				}
			}
			if err := WriteKeys(ctx, addrs[part%len(addrs)], size, own); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// WriteKeys writes keys with values of size bytes over one connection.
func WriteKeys(ctx context.Context, addr string, size int, keys iter.Seq[int]) error {
	c, err := DialContext(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	b := make([]byte, size)
	waiting := 0
	for i := range keys {
		c.Add([]byte("SET"), FillKey(i), FillValue(rnd, b))
		if waiting++; waiting < batch {
			continue
		}
		if err := c.Exchange(waiting); err != nil {
			return fmt.Errorf("SET: %w", err)
		}
		waiting = 0
	}
	return c.Exchange(waiting)
}
