package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

// FillKey is the i-th of the keys that Fill writes.
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

// batch is how many SETs are under way at a time on a connection of Fill.
const batch = 256

// FillKeys writes keys 0 to keys-1 with values of size bytes, by conns connections at a time,
// which take the addresses in turn.
func FillKeys(ctx context.Context, addrs []string, keys, size, conns int) error {
	return WriteKeys(ctx, addrs, size, conns, func(part int, set func(i int) error) error {
		for i := part * keys / conns; i < (part+1)*keys/conns; i++ {
			if err := set(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteKeys writes those keys that each calls set with, part by part, as Fill does.
func WriteKeys(ctx context.Context, addrs []string, size, conns int, each func(part int, set func(i int) error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	faults := make([]error, conns)
	var all sync.WaitGroup
	for part := range conns {
		all.Go(func() {
			faults[part] = write(ctx, addrs[part%len(addrs)], uint64(part), size, func(set func(int) error) error { return each(part, set) })
			if faults[part] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

func write(ctx context.Context, addr string, seed uint64, size int, each func(set func(i int) error) error) error {
	c, err := Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(seed, rand.Uint64()))
	b := make([]byte, size)
	waiting := 0
	settle := func() error {
		if err := errors.Join(ctx.Err(), c.Flush()); err != nil {
			return err
		}
		for ; waiting > 0; waiting-- {
			if _, err := c.Reply(); err != nil {
				return fmt.Errorf("SET: %w", err)
			}
		}
		return nil
	}
	err = each(func(i int) error {
		c.Add([]byte("SET"), FillKey(i), FillValue(rnd, b))
		if waiting++; waiting < batch {
			return nil
		}
		return settle()
	})
	if err != nil {
		return err
	}
	return settle()
}
