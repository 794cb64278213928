package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// quiet is how long nothing has moved when a move is over.
const quiet = 3 * time.Second

// watch waits until the newest of the nodes has its share, and prints how fast it came.
func watch(ctx context.Context, o *options, nodes []*node, load *load) error {
	var conns []*conn
	for _, n := range nodes {
		c, err := dial(n.addr)
		if err != nil {
			return err
		}
		defer c.close()
		conns = append(conns, c)
	}
	var began, changed time.Time
	spent := make([]time.Duration, len(nodes))
	used := make([]time.Duration, len(nodes))
	var profiles sync.WaitGroup
	defer profiles.Wait()
	last, moved, all := "", int64(0), int64(0)
	for {
		figures, state := make([]map[string]int64, len(conns)), ""
		pending := int64(0)
		for i, c := range conns {
			var err error
			if figures[i], err = c.info(); err != nil {
				return fmt.Errorf("%s: RING INFO: %w", nodes[i].id, err)
			}
			pending += figures[i]["pending"]
			state += fmt.Sprint(figures[i]["primaries"], " ")
		}
		newest := figures[len(figures)-1]
		now := time.Now()
		if began.IsZero() && (pending > 0 || newest["primaries"] > 0) {
			began = now
			for i, n := range nodes {
				used[i] = n.cpu()
				if o.profile != "" && len(nodes) == o.nodes {
					profiles.Go(func() {
						if err := n.profile(o.profile, 3); err != nil {
							fmt.Println("profile:", err)
						}
					})
				}
			}
		}
		if state != last || pending > 0 {
			last, changed = state, now
			for i, n := range nodes {
				spent[i] = n.cpu() - used[i]
			}
			moved, all = newest["own_bytes_estimate"], 0
			for _, f := range figures {
				all += f["own_bytes_estimate"]
			}
		}
		if !began.IsZero() && newest["primaries"] > 0 && now.Sub(changed) > quiet {
			break
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	took := changed.Sub(began)
	fmt.Printf("%s: %s ranges, %.1f MB in %v: %.1f MB/s\n", nodes[len(nodes)-1].id, last,
		float64(moved)/1e6, took.Round(time.Millisecond), float64(moved)/1e6/took.Seconds())
	least := float64(all) / float64(len(nodes))
	fmt.Printf("  that is %+.2f %% of the least that gives every node its share\n", 100*(float64(moved)/least-1))
	fmt.Printf("  processor time of each node: %v\n", spent)
	if load != nil {
		return load.report(began, changed)
	}
	return nil
}
