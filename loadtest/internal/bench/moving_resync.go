package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// resync stops the last node, changes some keys, restarts the node, and prints what it is sent and how
// that affects clients. In the end, among other things, it serves half of the ranges again.
func (o *movingOptions) resync(ctx context.Context) error {
	crew := o.crew
	if err := cluster.WaitBalanced(ctx, crew); err != nil {
		return err
	}
	last, rest := crew[len(crew)-1], crew[:len(crew)-1]
	if err := last.Stop(); err != nil {
		return err
	}
	err := rest[0].Until(ctx, "knows that all ranges are served by others", func(info map[string]int64) bool {
		primaries, err := sum(rest, "primaries")
		return err == nil && primaries == info["ranges"]
	})
	if err != nil {
		return err
	}
	changed, err := o.change(ctx, rest[0].Addr)
	if err != nil {
		return err
	}
	before, err := sum(rest, "moved_traffic_bytes")
	if err != nil {
		return err
	}
	l, err := o.startLoad(ctx)
	defer l.stop()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := last.Restart(ctx); err != nil {
		return err
	}
	if err := cluster.WaitBalanced(ctx, crew); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := sum(crew, "moved_traffic_bytes")
	if err != nil {
		return err
	}
	all, err := sum(crew, "own_bytes_estimate")
	if err != nil {
		return err
	}
	fmt.Printf("%s was away while %d of %d keys changed: %.1f MB of %.1f MB were sent, %.2f %%, and all was in sync after %v\n",
		last.ID, changed, o.keys, float64(after-before)/1e6, float64(all)/1e6, 100*float64(after-before)/float64(all), took.Round(10*time.Millisecond))
	if o.clients > 0 {
		if err := cluster.Sleep(ctx, moveQuiet); err != nil {
			return err
		}
	}
	return o.report(l, began, began.Add(took))
}

// change writes other values to some keys, spread at random, and returns their number.
func (o *movingOptions) change(ctx context.Context, addr string) (changed int, err error) {
	err = cluster.WriteKeys(ctx, addr, o.size, func(yield func(int) bool) {
		rnd := rand.New(rand.NewPCG(4, 5))
		for i := range o.keys {
			if rnd.Float64()*100 >= o.missed {
				continue
			}
			if changed++; !yield(i) {
				return
			}
		}
	})
	return changed, err
}
