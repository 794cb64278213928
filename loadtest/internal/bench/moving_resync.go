package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// resync takes the last node away, changes some keys, and prints what the node is sent
// when it is back, and what clients notice of that: a backup that serves half of the ranges
// in the end, among other things.
func resync(ctx context.Context, o *movingOptions, crew []*cluster.Process) error {
	if err := cluster.WaitBalanced(ctx, crew); err != nil {
		return err
	}
	last := crew[len(crew)-1]
	if err := last.Stop(); err != nil {
		return err
	}
	rest := crew[:len(crew)-1]
	err := rest[0].Until(ctx, "knows that all ranges are served by others", func(map[string]int64) bool {
		sum := int64(0)
		ranges := int64(0)
		for _, n := range rest {
			info, err := n.Info()
			if err != nil {
				return false
			}
			sum += info["primaries"]
			ranges = info["ranges"]
		}
		return sum == ranges
	})
	if err != nil {
		return err
	}
	changed, err := change(ctx, rest[0].Addr, o)
	if err != nil {
		return err
	}
	before, _, err := carried(rest)
	if err != nil {
		return err
	}
	var clients *moveLoad
	if o.clients > 0 {
		clients = startMoveLoad(rest[0].Addr, o)
		defer clients.stop()
		if err := wait(ctx, o.warm); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := last.Restart(ctx); err != nil {
		return err
	}
	if err := cluster.WaitBalanced(ctx, crew); err != nil {
		return err
	}
	took := time.Since(began)
	after, all, err := carried(crew)
	if err != nil {
		return err
	}
	fmt.Printf("%s was away while %d of %d keys changed: %.1f MB of %.1f MB were sent, %.2f %%, and all was in sync after %v\n",
		last.ID, changed, o.keys, float64(after-before)/1e6, float64(all)/1e6, 100*float64(after-before)/float64(all), took.Round(10*time.Millisecond))
	if clients != nil {
		if err := wait(ctx, moveQuiet); err != nil {
			return err
		}
		return clients.report(began, began.Add(took))
	}
	return nil
}

// change writes other values to some keys, spread at random, and returns to how many.
func change(ctx context.Context, addr string, o *movingOptions) (changed int, err error) {
	err = cluster.WriteKeys(ctx, []string{addr}, o.size, 1, func(_ int, set func(i int) error) error {
		rnd := rand.New(rand.NewPCG(4, 5))
		for i := range o.keys {
			if rnd.Float64()*100 >= o.missed {
				continue
			}
			if err := set(i); err != nil {
				return err
			}
			changed++
		}
		return nil
	})
	return changed, err
}

// carried are the bytes that the network has carried for copies since the nodes were
// started, and those that lie in all ranges, once.
func carried(crew []*cluster.Process) (traffic, all int64, err error) {
	for _, n := range crew {
		info, err := n.Info()
		if err != nil {
			return 0, 0, err
		}
		traffic += info["moved_traffic_bytes"]
		all += info["own_bytes_estimate"]
	}
	return traffic, all, nil
}
