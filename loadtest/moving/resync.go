package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ringside-kv/ringside/loadtest/nodes"
)

// resync takes the last node away, changes some keys, and prints what the node is sent
// when it is back, and what clients notice of that: a backup that serves half of the ranges
// in the end, among other things.
func resync(ctx context.Context, o *options, crew []*nodes.Node) error {
	if err := whole(ctx, crew); err != nil {
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
	changed, err := change(rest[0].Addr, o)
	if err != nil {
		return err
	}
	before, _, err := carried(rest)
	if err != nil {
		return err
	}
	var clients *load
	if o.clients > 0 {
		clients = startLoad(rest[0].Addr, o)
		defer clients.stop()
		if err := wait(ctx, o.warm); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := last.Restart(ctx); err != nil {
		return err
	}
	if err := whole(ctx, crew); err != nil {
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
		if err := wait(ctx, quiet); err != nil {
			return err
		}
		return clients.report(began, began.Add(took))
	}
	return nil
}

// whole waits until every range has its copies, and every node its share.
func whole(ctx context.Context, crew []*nodes.Node) error {
	for _, n := range crew {
		err := n.Until(ctx, "has its share, and all ranges their copies", func(info map[string]int64) bool {
			return info["primaries"] > 0 && info["backups"] > 0 && info["ranges_short_of_backups"] == 0 &&
				info["handoffs_running"] == 0 && info["pending_bytes"] == 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// change writes other values to some keys, spread at random, and returns to how many.
func change(addr string, o *options) (changed int, err error) {
	c, err := nodes.Dial(addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(4, 5))
	b := make([]byte, o.size)
	var failed error
	waiting := 0
	settle := func() {
		failed = errors.Join(failed, c.Flush())
		for ; waiting > 0 && failed == nil; waiting-- {
			_, failed = c.Reply()
		}
	}
	for i := 0; i < o.keys && failed == nil; i++ {
		if rnd.Float64()*100 >= o.missed {
			continue
		}
		c.Add([]byte("SET"), key(i), value(rnd, b))
		changed++
		if waiting++; waiting == 256 {
			settle()
		}
	}
	settle()
	return changed, failed
}

// carried are the bytes that the network has carried for copies since the nodes were
// started, and those that lie in all ranges, once.
func carried(crew []*nodes.Node) (traffic, all int64, err error) {
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
